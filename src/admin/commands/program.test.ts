import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Command } from 'commander'
import {
  assertUnderstood,
  understandingContext,
  writeGivenFiles,
} from '../../../test/support/understood-commands.ts'
import { Output } from '../terminal/output.ts'
import { buildProgram, runCommandLine } from './program.ts'

function listLeaves(command: Command): Command[] {
  if (command.commands.length === 0) return [command]
  const leaves = command.commands.flatMap(listLeaves)
  // The one that does something by itself, too.
  return command.name() === 'console' ? [command, ...leaves] : leaves
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

  const leaves = listLeaves(buildProgram(understandingContext, () => undefined)).filter(
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
        await assertUnderstood(args)
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
    await runCommandLine(line.split(' '), {
      ...understandingContext,
      output: new KeptOutput(process.stdout),
    })
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
