// The command tree of svc, without anything behind it: whether svc understands what stands on a command line.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { Output } from '../../src/admin/terminal/output.ts'
import type { CommandContext } from '../../src/admin/commands/command-context.ts'
import { runCommandLine } from '../../src/admin/commands/program.ts'
import { UserError } from '../../src/platform/errors.ts'
import { REACHING_CONTEXT, Reached } from './reaching-context.ts'
import { createSampleRoot } from './sample-roots.ts'
import { TestTrustKey } from './trust-keys.ts'

/** What a command that asks for no vault says of examples: their files are not there, and the console may not be built. */
const UNDERSTOOD: ReadonlySet<string> = new Set(['key_invalid', 'file_failed', 'console_missing'])

const reached = (): Promise<never> => Promise.reject(new Reached())
class ReachedOutput extends Output {
  override write(): Promise<void> {
    return reached()
  }
}
export const understandingContext: CommandContext = {
  ...REACHING_CONTEXT,
  output: new ReachedOutput(process.stdout),
}

/** What it names need not be there. */
export async function assertUnderstood(args: readonly string[]): Promise<void> {
  const isUnderstood = (error: unknown): boolean =>
    error instanceof Reached || (error instanceof UserError && UNDERSTOOD.has(error.code))
  await assert.rejects(
    runCommandLine(args, understandingContext),
    isUnderstood,
    `svc ${args.join(' ')}`,
  )
}

/** What commands read before they ask for anything. */
export async function writeGivenFiles(): Promise<void> {
  const [key, next] = [new TestTrustKey(), new TestTrustKey()]
  const root = await createSampleRoot('Root', new Date())
  const set = key.signSet([root.sha256], { numero: 2 })
  const change = key.signNext(next)
  const files = {
    'ca-root.crt': root.pem,
    'trust.pub': key.file,
    'next.pub': next.file,
    'set.txt': set.statement,
    'set.txt.minisig': set.signature,
    'next.txt': change.statement,
    'next.txt.minisig': change.signature,
    password: 'correct horse\n',
    'slack-url': 'https://hooks.slack.com/services/T000/B000/XXXX\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(name, text)
}
