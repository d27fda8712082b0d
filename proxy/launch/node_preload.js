// Loaded by `turntape run` into a node that has no proxy support of its own (below 22.21, and 24.0 to 24.4):
// sends what `fetch`, `http` and `https` open through HTTPS_PROXY / HTTP_PROXY, by CONNECT, minding NO_PROXY.
// It needs no package, and where anything is not as expected it leaves node alone.
'use strict';
const [major, minor] = process.versions.node.split('.').map(Number);
const native = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
const proxies = {
  'https:': process.env.HTTPS_PROXY || process.env.https_proxy,
  'http:': process.env.HTTP_PROXY || process.env.http_proxy,
};
if (!native && (proxies['https:'] || proxies['http:'])) {
  const net = require('net');
  const tls = require('tls');
  const http = require('http');
  const https = require('https');

  const bypassed = (process.env.NO_PROXY || process.env.no_proxy || '')
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((entry) => entry.match(/^(.*?)(?::(\d+))?$/));
  const direct = (host, port) =>
    bypassed.some(([, name, only]) => {
      const bare = name.replace(/^\*?\./, '').toLowerCase();
      const same = name === '*' || host === bare || host.endsWith('.' + bare);
      return same && (!only || only === String(port));
    });

  // One CONNECT; `done(error, socket)` once the tunnel is open.
  const tunnel = (proxy, host, port, done) => {
    const { hostname, port: at, username, password } = new URL(proxy);
    const target = (host.includes(':') ? `[${host}]` : host) + ':' + port;
    const login = decodeURIComponent(username) + ':' + decodeURIComponent(password);
    const credentials = username
      ? `Proxy-Authorization: Basic ${Buffer.from(login).toString('base64')}\r\n`
      : '';
    const socket = net.connect(Number(at || 80), hostname.replace(/^\[|\]$/g, ''));
    let head = Buffer.alloc(0);
    const fail = (error) => {
      socket.destroy();
      done(error);
    };
    const onEnd = () => fail(new Error(`the proxy ${proxy} closed the connection to ${target}`));
    const onData = (data) => {
      head = Buffer.concat([head, data]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', onData).off('error', fail).off('end', onEnd);
      const status = head.toString('latin1', 0, head.indexOf('\r\n'));
      if (!/^HTTP\/1\.\d 2/.test(status)) return fail(new Error(`the proxy ${proxy} answered ${status}`));
      done(null, socket); // in TLS as in HTTP the client speaks first, so nothing is behind the head
    };
    socket.once('error', fail).once('end', onEnd).on('data', onData);
    socket.once('connect', () => {
      socket.setNoDelay(true);
      socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`);
    });
  };

  // A tunnel, and TLS in it where the scheme asks for it.
  const open = (scheme, proxy, host, port, options, done) =>
    tunnel(proxy, host, port, (error, socket) => {
      if (error) return done(error);
      if (scheme === 'http:') return done(null, socket);
      const secure = tls.connect({ ...options, socket, servername: options.servername || (net.isIP(host) ? '' : host) });
      const failed = (problem) => done(problem);
      secure.once('error', failed).once('secureConnect', () => {
        secure.off('error', failed);
        done(null, secure);
      });
    });

  // node:http and node:https, also through agents of their own (axios, node-fetch, older SDKs).
  const patch = (Agent, scheme, fallbackPort) => {
    const original = Agent.prototype.createConnection;
    Agent.prototype.createConnection = function (options, done) {
      const host = String(options.host || options.hostname || 'localhost').toLowerCase();
      const port = options.port || fallbackPort;
      const proxy = proxies[scheme];
      if (!proxy || options.socketPath || options.path || !done || direct(host, port))
        return original.apply(this, arguments);
      const { path, ...rest } = options;
      open(scheme, proxy, host, port, rest, done);
      return undefined;
    };
  };
  patch(https.Agent, 'https:', 443);
  patch(http.Agent, 'http:', 80);

  // fetch: node's own undici keeps its dispatcher under this symbol once it is loaded.
  try {
    void globalThis.Headers;
    const key = Symbol.for('undici.globalDispatcher.1');
    const Dispatcher = globalThis[key]?.constructor;
    if (Dispatcher) {
      globalThis[key] = new Dispatcher({
        connect(options, done) {
          const scheme = options.protocol;
          const host = String(options.hostname).replace(/^\[|\]$/g, '').toLowerCase();
          const port = Number(options.port) || (scheme === 'https:' ? 443 : 80);
          const proxy = proxies[scheme];
          const servername = options.servername || (net.isIP(host) ? '' : host);
          const tlsOptions = { servername, ALPNProtocols: ['http/1.1'] };
          if (proxy && !direct(host, port)) return open(scheme, proxy, host, port, tlsOptions, done);
          const socket =
            scheme === 'https:' ? tls.connect({ ...tlsOptions, host, port }) : net.connect({ host, port });
          const failed = (error) => done(error);
          socket.setNoDelay(true);
          socket.once('error', failed).once(scheme === 'https:' ? 'secureConnect' : 'connect', () => {
            socket.off('error', failed);
            done(null, socket);
          });
        },
      });
    }
  } catch {
    // an undici that is built otherwise: fetch stays as it is
  }
}
