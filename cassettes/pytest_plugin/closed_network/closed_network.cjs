// Loaded by `node --require` into processes that a test starts: notes or refuses their connections.
'use strict';
const net = require('node:net');

const setting = JSON.parse(process.env.TURNTAPE_CLOSED_NETWORK || 'null');

const isHere = (host) =>
  ['', '::1', '::', '0.0.0.0', 'localhost'].includes(host) || /^127\./.test(host) || /\.localhost$/.test(host);

const report = (where) => {
  const line = connect.call(new net.Socket(), { host: '127.0.0.1', port: setting.port });
  line.on('error', () => {});
  line.on('data', () => line.destroy());
  line.end(`CONNECT ${where} HTTP/1.1\r\n\r\n`);
};

const connect = net.Socket.prototype.connect;
if (setting) {
  net.Socket.prototype.connect = function (...args) {
    const first = Array.isArray(args[0]) ? args[0][0] : args[0];
    const options = first && typeof first === 'object' ? first : { port: first, host: args[1] };
    const host = typeof options.host === 'string' ? options.host : 'localhost';
    const where = `${host}:${options.port}`;
    const allowed = ['*', host, where].some((name) => setting.allowed.includes(name));
    if (options.path || allowed || (isHere(host) && !setting.refused.includes(where))) return connect.apply(this, args);
    report(where);
    if (!setting.closed) return connect.apply(this, args);
    const error = new Error(
      `turntape: the network is closed for processes of a test that replays, and this one connects to ${where}; ` +
        'start it with env=turntape_environment',
    );
    error.code = 'ECONNREFUSED';
    process.nextTick(() => this.destroy(error));
    return this;
  };
}
