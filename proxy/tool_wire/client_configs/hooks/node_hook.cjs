// Puts our wrapper in front of the tool servers that JavaScript's MCP SDKs start. `turntape run` preloads it into Node.
// A server is recognised by who starts it: code of an MCP SDK is on the stack, and stdin and stdout are pipes. So is a
// command that is known to be one. Whatever goes wrong here, the program starts its server as it would without us.
'use strict';
const VARIABLE = 'TURNTAPE_TOOL_WIRE';
const SDK = /[\\/](?:@modelcontextprotocol[\\/](?:sdk|client)|@ai-sdk[\\/]mcp|@mastra[\\/]mcp)[\\/]/;

if (process.env[VARIABLE]) {
  try {
    const processes = require('node:child_process');
    const fs = require('node:fs');
    const path = require('node:path');
    const { wrapper: front, missing, known = [] } = JSON.parse(process.env[VARIABLE]);

    const onPath = (command, options) => {
      const places = command.includes('/') ? [''] : String((options.env || process.env).PATH || '').split(path.delimiter);
      return places.some((place) => fs.existsSync(path.resolve(String(options.cwd || '.'), place, command)));
    };
    const fromSdk = () => {
      const limit = Error.stackTraceLimit;
      Error.stackTraceLimit = 50;
      const { stack } = new Error();
      Error.stackTraceLimit = limit;
      return SDK.test(stack);
    };
    const piped = ({ stdio }) => stdio === 'pipe' || (Array.isArray(stdio) && stdio[0] === 'pipe' && stdio[1] === 'pipe');
    const same = (one, other) => one.length === other.length && one.every((word, place) => word === other[place]);
    const knownAs = (command, args, options) =>
      Array.isArray(args) && options && !options.shell && piped(options)
        ? known.find(({ words }) => same(words, [command, ...args]))
        : undefined;
    const isServer = (command, args, options) =>
      typeof command === 'string' &&
      Array.isArray(args) &&
      options !== null &&
      typeof options === 'object' &&
      !options.shell &&
      piped(options) &&
      ![command, ...args].slice(0, 6).every((word, place) => word === front[place]) &&
      fromSdk() &&
      (missing || onPath(command, options));

    const original = processes.spawn;
    processes.spawn = function spawn(command, args, options) {
      let words = null;
      try {
        const found = knownAs(command, args, options);
        if (found) words = [...found.front, command, ...args];
        else if (isServer(command, args, options)) words = [...front, command, ...args];
      } catch {
        // it is started as it is
      }
      return words ? original.call(this, words[0], words.slice(1), options) : original.apply(this, arguments);
    };
    // For `import { spawn } from 'node:child_process'`.
    require('node:module').syncBuiltinESMExports();
  } catch {
    // Node is left as it is
  }
}
