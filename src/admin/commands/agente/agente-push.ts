import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { PUSH_BYTES_MAX } from '../../../protocol/admin/bounds.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'
import type { CommandContext } from '../command-context.ts'
import { whenTold } from './when-told.ts'

interface AgentePushOptions {
  readonly nome: string
  readonly file: string
  readonly modo?: string
  readonly json?: true
}

export function registerAgentePush(agente: Command, context: CommandContext): void {
  agente
    .command('push')
    .description('put a small text file on an agent’s host; for a secret use a sealed load')
    .argument('<agent>', 'hostname or id')
    .requiredOption(`${flagOf('nome')} <name>`, 'the file on the host: out/<name>')
    .requiredOption('--file <file>', 'the content, text of up to 16 KiB; - is standard input')
    .option(`${flagOf('modo')} <mode>`, 'who can read and write it there, in octal (default 0644)')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub keeps the content, and everybody on the host can read it unless --mode says otherwise. Another push of the same
name to the same agent is the next version. An offline agent gets the file when it is back.

Examples:
  svc agent push web-1.example.org --name motd --file motd.txt
  date | svc agent push web-1.example.org --name deployed-at --file - --mode 0640
`,
    )
    .action((name: string, options: AgentePushOptions) => push(context, name, options))
}

async function push(
  context: CommandContext,
  agente: string,
  { nome, file, modo, json }: AgentePushOptions,
): Promise<void> {
  const conteudo = await readText(context, file)
  const request = { agente, nome, conteudo, ...(modo === undefined ? {} : { modo }) }
  const reply = await context.withAdmin(({ operations }) => operations.pushToAgent(request))
  if (json) return context.output.writeJson(reply)
  await context.output.write(
    `delivery ${reply.entrega_id} of ${nome} is for agent ${agente}${whenTold(reply)}\n`,
  )
}

async function readText({ openSecret }: CommandContext, file: string): Promise<string> {
  const source = await openSecret(file)
  try {
    const content = await source.read(PUSH_BYTES_MAX)
    if (content === undefined) {
      throw new UserError(
        'file_too_large',
        `${source.name} has more than ${PUSH_BYTES_MAX} bytes, the most that a push holds`,
        { hint: 'for a larger file use a sealed load' },
      )
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UserError('content_invalid', `${source.name} is not text in UTF-8`)
  } finally {
    await source.close()
  }
}
