// SPDX-License-Identifier: Apache-2.0
//
// The vendor's part for real clients: HTTP/1.1 with WebSocket on one port, HTTP/2 on the next.
//
//   node server.js ADDRESS PORT KEY CERTIFICATE
//
// /hello         five bytes
// PUT /up        the SHA-256 and the length of what came
// /down?bytes=N  N bytes, and their SHA-256 as a trailer of the body's own: the last 64 bytes
// /events?n=N    N server-sent events, one a second
// upgrade        a WebSocket that sends each text back
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http2 = require('http2');
const https = require('https');
const [address, port, key, certificate] = process.argv.slice(2);
const tls = { key: fs.readFileSync(key), cert: fs.readFileSync(certificate) };
const block = crypto.randomBytes(1 << 20);

function take(request, response) {
  const hash = crypto.createHash('sha256');
  let length = 0;
  request.on('data', (bytes) => { hash.update(bytes); length += bytes.length; });
  request.on('end', () => response.end(`${hash.digest('hex')} ${length}\n`));
}

function give(response, bytes) {
  const hash = crypto.createHash('sha256');
  let left = bytes;
  const more = () => {
    while (left > 0) {
      const piece = left < block.length ? block.subarray(0, left) : block;
      hash.update(piece);
      left -= piece.length;
      if (!response.write(piece)) { response.once('drain', more); return; }
    }
    response.end(hash.digest('hex'));
  };
  more();
}

function trickle(response, count) {
  let sent = 0;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => {
    response.write(`id: ${++sent}\ndata: tick\n\n`);
    if (sent < count) return;
    clearInterval(timer);
    response.end();
  }, 1000);
}

function serve(request, response) {
  const url = new URL(request.url, 'https://x');
  if (url.pathname === '/hello') response.end('hello');
  else if (url.pathname === '/up') take(request, response);
  else if (url.pathname === '/down') give(response, Number(url.searchParams.get('bytes')));
  else if (url.pathname === '/events') trickle(response, Number(url.searchParams.get('n')));
  else { response.statusCode = 404; response.end(); }
}

// RFC 6455, for texts under 126 bytes in one frame each.
function echo(socket) {
  socket.on('data', (frame) => {
    if ((frame[0] & 15) === 8) { socket.end(Buffer.from([0x88, 0])); return; }
    const length = frame[1] & 127;
    const text = Buffer.from(frame.subarray(6, 6 + length));
    for (let i = 0; i < length; i++) text[i] ^= frame[2 + (i & 3)];
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
  });
  socket.on('error', () => socket.destroy());
}

const one = https.createServer({ ...tls, allowHalfOpen: true }, serve);
one.httpAllowHalfOpen = true; // a client that has said all may shut its side
one.on('upgrade', (request, socket) => {
  const accept = crypto.createHash('sha1')
    .update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
  echo(socket);
});
const two = http2.createSecureServer(tls, serve);
one.listen(Number(port), address, () =>
  two.listen(Number(port) + 1, address, () => console.log('ready')));
