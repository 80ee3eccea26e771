// `svc console`: the hub's pages from this program, on this machine, until somebody ends it.

import { type Command, InvalidArgumentError } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'

interface ConsoleServeOptions {
  readonly port: number
  readonly open?: true
}

export function registerConsoleServe(console: Command, context: CommandContext): void {
  console
    .option('--port <number>', 'of 127.0.0.1; 0 for one that is free', parsePort, 0)
    .option('--open', 'start a browser with the link')
    .addHelpText('after', HELP)
    .action((options: ConsoleServeOptions) => serve(context, options))
}

const HELP = `
Without a command, svc serves the pages of the hub itself on http://127.0.0.1 until Ctrl-C, and prints a link that signs in once; when that
session ends, svc prints another one. The pages come from this program, not from the hub, and so a file can be sealed in the
browser: a hub in wrong hands cannot send a page that tells the secret. svc passes what the pages ask for on to the hub, through
its admin socket, or by --hub with the admin token (or the login of svc login), which the browser never gets. Recipients count as svc load create takes them: by
~/.config/svc/recipients.json (SVC_RECIPIENTS_FILE).

On a machine with a hub, start it as the owner of the vault, not as root. On another machine, forward nothing: install svc there.

Examples:
  svc console
  svc --hub https://hub.example.org:8445 console --open
  svc --hub https://hub.example.org:8445 --token-file ~/.svc-token --hub-ca ca.crt console --port 8446 --open
`

async function serve(context: CommandContext, { port, open }: ConsoleServeOptions): Promise<void> {
  const { openConsole } = await import('../../../console-files/open-console.ts')
  const { serveConsole } = await import('../../console/serve-console.ts')
  const files = openConsole()
  if (files === undefined) {
    throw new UserError('console_missing', 'this svc runs from its source, without the console', {
      hint: 'npm run build:console makes it',
    })
  }
  const { line, openPins, pinsPath, openBrowser } = await context.openConsoleDoor()
  try {
    const served = await serveConsole({
      line,
      files,
      openPins,
      pinsPath,
      clock: context.clock,
      port,
      onLink: (link) =>
        void context.output.write(`the session has ended; the next link: ${link}\n`),
    })
    const opened = open && (await openBrowser(served.link))
    if (opened?.fault !== undefined) context.note(`no browser was started: ${opened.fault}`)
    try {
      await context.output.write(`the console of ${line.hub}, until Ctrl-C: ${served.link}\n`)
      await context.untilEnded()
    } finally {
      await opened?.forget()
      await served.close()
    }
  } finally {
    line.close()
  }
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('a port is a number from 0 to 65535')
}
