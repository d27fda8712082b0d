// opencode, headless, with the tools as an MCP server.
import { TASK, asked } from './emails.mjs';
import { live, server, write } from './command_line.mjs';

write('opencode.json', {
  autoupdate: false,
  share: 'disabled',
  mcp: {
    emails: { type: 'local', command: [server.command, ...server.args], environment: server.env, enabled: true },
  },
});
const model = asked.has('anthropic') ? 'anthropic/claude-sonnet-4-5' : 'openai/gpt-5';
await live('opencode', ['run', '--auto', '--model', model, TASK], {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
});
