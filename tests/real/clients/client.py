# SPDX-License-Identifier: Apache-2.0
"""Python's clients through the proxy: urllib, and TLS by hand whose sending side is shut early.

client.py PROXY_ADDRESS PROXY_PORT HOST (get | half KIBIBYTES)
"""
import hashlib
import os
import socket
import ssl
import sys
import urllib.request

address, port, host, what = sys.argv[1:5]
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE


def get():
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"https": f"http://{address}:{port}"}),
        urllib.request.HTTPSHandler(context=context))
    print(opener.open(f"https://{host}/hello", timeout=20).read().decode())


def half():
    """The request's last byte is the last that is ever sent; all of the answer is still due then."""
    size = int(sys.argv[5]) << 10
    raw = socket.create_connection((address, int(port)), 20)
    raw.sendall(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += raw.recv(1)
    if not head.startswith(b"HTTP/1.1 200 "):
        sys.exit(head.decode())
    end = socket.socket(fileno=os.dup(raw.fileno()))
    tls = context.wrap_socket(raw, server_hostname=host)
    tls.sendall(f"GET /down?bytes={size} HTTP/1.0\r\n\r\n".encode())
    end.shutdown(socket.SHUT_WR)
    got = b""
    try:
        while piece := tls.recv(65536):
            got += piece
    except ssl.SSLEOFError:
        pass
    body = got.split(b"\r\n\r\n", 1)[1]
    right = hashlib.sha256(body[:size]).hexdigest().encode() == body[size:]
    print("whole" if len(body) == size + 64 and right else f"{len(body)} bytes")


{"get": get, "half": half}[what]()
