// SPDX-License-Identifier: Apache-2.0
//
// Node's own clients through the proxy: an agent that tunnels, as fetch's do, and a WebSocket.
//
//   node client.js PROXY_ADDRESS PROXY_PORT HOST (get | websocket)
'use strict';
const crypto = require('crypto');
const http = require('http');
const https = require('https');
const tls = require('tls');
const [address, port, host, what] = process.argv.slice(2);

function fail(error) { console.error(String(error)); process.exit(1); }

function tunnel(done) {
  // As agents do it: by itself node would name the proxy in the Host field.
  const request = http.request({
    host: address, port, method: 'CONNECT', path: `${host}:443`, headers: { Host: `${host}:443` },
  });
  request.on('connect', (response, socket) => {
    if (response.statusCode !== 200) fail(`CONNECT: ${response.statusCode}`);
    const secure = tls.connect({ socket, servername: host, rejectUnauthorized: false }, () => done(secure));
    secure.on('error', fail);
  });
  request.on('error', fail);
  request.end();
}

function get(secure) {
  https.get({ host, path: '/hello', createConnection: () => secure }, (response) => {
    let text = '';
    response.on('data', (piece) => { text += piece; });
    response.on('end', () => { console.log(text); process.exit(0); });
  }).on('error', fail);
}

function frame(text) {
  const mask = crypto.randomBytes(4);
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i++) bytes[i] ^= mask[i & 3];
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length]), mask, bytes]);
}

function websocket(secure) {
  const request = https.request({
    host, path: '/ws', createConnection: () => secure,
    headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': crypto.randomBytes(16).toString('base64') },
  });
  request.on('upgrade', (response, socket) => {
    let count = 0;
    socket.on('data', (bytes) => {
      if (bytes.subarray(2).toString() !== `message ${count}`) fail('another message came back');
      if (++count === 20) { console.log('20 messages'); process.exit(0); }
      setTimeout(() => socket.write(frame(`message ${count}`)), 20);
    });
    socket.write(frame('message 0'));
  });
  request.on('error', fail);
  request.end();
}

tunnel(what === 'get' ? get : websocket);
