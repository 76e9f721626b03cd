// SPDX-License-Identifier: Apache-2.0
//
// An anchor of the benchmark: the CONNECT proxy that one writes with node's http and net, with an
// allowlist. node node_proxy.js PORT ALLOWED_HOST:PORT
'use strict';
const http = require('http');
const net = require('net');
const [port, allowed] = process.argv.slice(2);
const at = allowed.lastIndexOf(':');
const [host, upstreamPort] = [allowed.slice(0, at), Number(allowed.slice(at + 1))];

const server = http.createServer((request, response) => {
  response.writeHead(405, { Connection: 'close' });
  response.end();
});

server.on('connect', (request, client, head) => {
  client.on('error', () => client.destroy());
  if (request.url !== allowed) {
    client.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    return;
  }
  const upstream = net.connect({ host, port: upstreamPort, noDelay: true, allowHalfOpen: true }, () => {
    client.setNoDelay(true);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  upstream.on('error', () => client.destroy());
  client.on('close', () => upstream.destroy());
});

server.listen({ port: Number(port), host: '127.0.0.1', backlog: 1024 });
