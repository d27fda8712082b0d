// The tools of the story, for any client: five drafts, then one is sent. A script knows nothing of turntape.
export const TASK = 'Draft emails to five companies, choose the best one, and send it.';
export const SYSTEM = 'You are a sales assistant. Use the tools; be brief.';
export const TURNS = 8; // a loop that is still calling tools after these has gone wrong
export const TOOLS = {
  generate_email: {
    description: 'Draft a sales email to a company.',
    parameters: {
      type: 'object',
      properties: { company: { type: 'string' }, tone: { type: 'string' } },
      required: ['company', 'tone'],
    },
  },
  send_email: {
    description: 'Send a draft.',
    parameters: {
      type: 'object',
      properties: { to: { type: 'string' }, subject: { type: 'string' }, draft: { type: 'integer' } },
      required: ['to', 'subject', 'draft'],
    },
  },
};
const done = [];

export const note = (name) => done.push(name);

export const generate_email = ({ company, tone }) => {
  done.push('generate_email');
  return `drafted a ${tone} email to ${company}`;
};

export const send_email = ({ to, subject, draft }) => {
  done.push('send_email');
  return `sent draft ${draft} to ${to}: ${subject}`;
};

export const run = (name, given) => ({ generate_email, send_email })[name](given);

// The tools as OpenAI's Chat Completions declares them.
export const functions = () =>
  Object.entries(TOOLS).map(([name, tool]) => ({ type: 'function', function: { name, ...tool } }));

// The last word of a script: exit code 1 when the agent did not live the whole story.
export const finish = (text) => {
  console.log(text);
  const told = done.slice().sort().join(' ');
  if (told !== 'generate_email '.repeat(5) + 'send_email') {
    console.error(`the tools were called: ${told}`);
    process.exitCode = 1;
  } else if (!String(text).includes('Globex')) {
    console.error(`the last answer was ${text}`);
    process.exitCode = 1;
  }
};

// The words of the variant: `chat`, `streamed`, …
export const asked = new Set(process.argv.slice(2).join(' ').split(' '));
