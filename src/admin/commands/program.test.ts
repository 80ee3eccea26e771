import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Command } from 'commander'
import { createSampleRoot } from '../../../test/support/sample-roots.ts'
import { TestTrustKey } from '../../../test/support/trust-keys.ts'
import { systemClock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { CommandContext } from './command-context.ts'
import { Output } from '../terminal/output.ts'
import { buildProgram, runCommandLine } from './program.ts'

class Reached extends Error {}

/** What a command that asks for no vault says of examples, whose files are not there. */
const UNDERSTOOD: ReadonlySet<string> = new Set(['key_invalid', 'file_failed'])

/** Nothing is done: a command that gets as far as to ask for the vault has understood its arguments. */
const reached = (): Promise<never> => Promise.reject(new Reached())
class ReachedOutput extends Output {
  override write(): Promise<void> {
    return reached()
  }
}
const context: CommandContext = {
  output: new ReachedOutput(process.stdout),
  clock: systemClock,
  progress: { show: () => undefined, clear: () => undefined },
  vault: {
    create: reached,
    checkPassphrase: reached,
    withBackup: reached,
    verifyBackup: reached,
    restore: reached,
    changePassphrase: reached,
    addRecoveryKey: reached,
    removeRecoveryKey: reached,
    listRecoveryKeys: reached,
    rekey: reached,
    compact: reached,
    migrate: reached,
    join: reached,
    standby: { init: reached, status: reached, promote: reached },
  },
  useOptions: () => undefined,
  note: () => undefined,
  openSecret: reached,
  openScene: reached,
  openPins: reached,
  openConsoleDoor: reached,
  openSignIn: reached,
  untilEnded: reached,
  withAdmin: reached,
}

function listLeaves(command: Command): Command[] {
  if (command.commands.length === 0) return [command]
  const leaves = command.commands.flatMap(listLeaves)
  // The one that does something by itself, too.
  return command.name() === 'console' ? [command, ...leaves] : leaves
}

/** What commands read before they ask for anything. */
async function writeGivenFiles(): Promise<void> {
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

/** The lines of its help that run svc, variables and quotes resolved as far as svc could tell. */
function readExamples(command: Command): string[][] {
  let help = ''
  command.configureOutput({
    writeOut: (text) => {
      help += text
    },
  })
  command.outputHelp()
  const [, examples = ''] = help.split(/^Examples.*:\n/m)
  return [...examples.matchAll(/^ {2}(?:[A-Z_]+=\S+ )*svc (.*)$/gm)].map(([, line = '']) =>
    (line.match(/"[^"]*"|'[^']*'|[^ ]+/g) ?? []).map((word) => word.replaceAll(/^['"]|['"]$/g, '')),
  )
}

describe('the help of each command', () => {
  const home = process.cwd()
  let directory = ''
  // Examples write files where they stand.
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-examples-'))
    process.chdir(directory)
    await writeGivenFiles()
  })
  after(async () => {
    process.chdir(home)
    await rm(directory, { recursive: true })
  })

  const leaves = listLeaves(buildProgram(context, () => undefined)).filter(
    (leaf) => leaf.name() !== 'completion',
  )

  test('covers all that there is', () => {
    assert.equal(leaves.length, 97)
  })

  for (const leaf of leaves) {
    const name = `${leaf.parent?.name() ?? ''} ${leaf.name()}`
    test(`has examples that ${name} understands`, async () => {
      const examples = readExamples(leaf)
      assert.ok(examples.length > 0, 'no example')
      for (const args of examples) {
        const isUnderstood = (error: unknown): boolean =>
          error instanceof Reached || (error instanceof UserError && UNDERSTOOD.has(error.code))
        await assert.rejects(runCommandLine(args, context), isUnderstood, `svc ${args.join(' ')}`)
      }
    })
  }
})

describe('svc help', () => {
  /** What it prints on a terminal of 80 columns. */
  async function read(line: string): Promise<string> {
    let text = ''
    class KeptOutput extends Output {
      override write(written: string): Promise<void> {
        text += written
        return Promise.resolve()
      }
    }
    await runCommandLine(line.split(' '), { ...context, output: new KeptOutput(process.stdout) })
    return text
  }

  for (const [asked, usage] of [
    ['help token create', 'Usage: svc token create [options]'],
    ['help carga create', 'Usage: svc load create [options]'],
    ['help token', 'Usage: svc token [options] [command]'],
  ] as const) {
    test(`of ${asked} is that of the command`, async () => {
      assert.equal((await read(asked)).split('\n')[0], usage)
    })
  }
})
