import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { makeTrustKey } from '../../../trust/trust-key.ts'
import { parseSetStatement } from '../../../trust/statements.ts'
import type { CommandContext } from '../command-context.ts'
import {
  addRolloutOptions,
  parseRolloutOptions,
  type RolloutOptions,
} from '../rollout/rollout-options.ts'
import { describeWaves } from './describe-waves.ts'
import { renderBundle } from './bundle-status.ts'
import { readPublicKeyLine, readSignedStatement } from './read-given.ts'

interface SignOptions extends RolloutOptions {
  readonly signature?: string
  readonly trustKey?: string
  readonly keyChange?: string
  readonly force?: true
  readonly json?: true
}

export function registerBundleSign(bundle: Command, context: CommandContext): void {
  const command = bundle
    .command('sign <statement>')
    .description('put the roots of the root file in force, with the signature of the trust key')
    .option('--signature <file>', 'the signature: without it, <statement>.minisig')
    .option('--trust-key <file>', 'the .pub file of the trust key: the first time')
    .option(
      '--key-change <file>',
      'what svc bundle prepare-key wrote, signed by the trust key until now (<file>.minisig)',
    )
    .option(
      '--force',
      'also when agents need a removed root, or with a trust key that the last one did not name',
    )
  addRolloutOptions(command)
  command
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The statement is what svc bundle prepare wrote, and its signature is made by minisign, where the secret key is: svc takes no
secret key. The hub reads its root file again and changes nothing unless the statement names exactly its roots, a number
after the set in force, and the fleet, and every agent that demands the trust key would adopt the set.

The first time --trust-key names the key. With --key-change the next trust key signs, the set in hand and all that follow.

With --waves the hub trusts the set at once, and agents are offered it in waves: the next wave opens when each agent of the last one has said
that it trusts the set, and it was so for the time of --soak. One that refuses it, or is late, has failed. Agents of later waves, and hosts that
enrol meanwhile, keep the set before. A set that takes a root away goes to all at once. Roots only go forward: svc rollout pause roots keeps the
rest on the set before, and the next set takes the place of this one; there is no undo.

Examples:
  svc bundle sign set.txt --trust-key trust.pub
  svc bundle sign set.txt
  svc bundle sign set.txt --key-change next.txt
  svc bundle sign set.txt --waves 1,10%,100% --soak 10m
`,
    )
    .action(async (path: string, options: SignOptions) => {
      const { signature, trustKey, keyChange, force, json } = options
      const rules = parseRolloutOptions(options)
      const signed = await readSignedStatement(path, signature)
      const request = {
        ...signed,
        ...(trustKey !== undefined && {
          trust_key: await nameKey(trustKey, signed.statement, path),
        }),
        ...(keyChange !== undefined && { key_change: await readSignedStatement(keyChange) }),
        ...(force && { force }),
        ...(rules && { in_waves: rules }),
      }
      const updated = await context.withAdmin(({ operations }) => operations.signBundle(request))
      if (json) return context.output.writeJson(updated)
      const lost = updated.endangered.map(
        ({ hostname, reasons }) => `lost: ${hostname} (${reasons.join('; ')})\n`,
      )
      const done = `the roots are now set ${updated.numero}, signed by the trust key${describeWaves(updated)}
on each host: SVC_AGENT_TRUST_KEY=${updated.trust_key ?? ''}
`
      await context.output.write(
        `${done}${lost.join('')}\n${renderBundle(context.output.language, updated)}`,
      )
    })
}

/** The fleet is the one that the statement is signed for. */
async function nameKey(keyPath: string, statement: string, path: string): Promise<string> {
  const line = await readPublicKeyLine(keyPath)
  const fleet = parseSetStatement(statement)?.fleet
  const key = fleet === undefined ? undefined : makeTrustKey(fleet, line)
  if (key !== undefined) return key.text
  throw new UserError('statement_invalid', `${path} is not what svc bundle prepare writes`, {
    hint: 'svc bundle prepare <root-file> > set.txt; a text that was changed since, even by a blank, is another text',
  })
}
