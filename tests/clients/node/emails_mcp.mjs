// The two tools as an MCP server over stdin and stdout, for agents that take tools in no other way.
// Each call is noted in the file that EMAILS_DONE names.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { TOOLS, run } from './emails.mjs';

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'emails', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(TOOLS).map(([name, tool]) => ({
      name,
      description: tool.description,
      inputSchema: tool.parameters,
    })),
  }),
  'tools/call': ({ name, arguments: given }) => {
    appendFileSync(process.env.EMAILS_DONE, `${name}\n`);
    return { content: [{ type: 'text', text: run(name, given) }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const told = answers[method]
    ? { result: answers[method](params ?? {}) }
    : { error: { code: -32601, message: `no method ${method}` } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...told }));
}
