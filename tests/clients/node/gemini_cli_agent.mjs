// Gemini CLI, headless, with the tools as an MCP server.
import { TASK } from './emails.mjs';
import { live, server, write } from './command_line.mjs';

write('.gemini/settings.json', {
  mcpServers: { emails: { ...server, trust: true } },
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
});
await live('gemini', ['-p', TASK, '-m', 'gemini-2.5-pro', '--yolo', '--skip-trust']);
