import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Command, Option } from 'commander'
import { addCompletionCommand } from './completion.ts'

async function printCompletion(shell: string): Promise<string> {
  const program = new Command('its-cli').version('1')
  const host = program.command('host').alias('machine').description('what it’s: the hosts')
  host
    .command('add')
    .description('add one')
    .option('--name, --nome <name>', 'its name')
    .option('--key <file>', 'its key')
    .addOption(new Option('--kind <kind>', 'its kind').choices(['plain', 'pretty']))
    .option('--json', 'as JSON')
  host.command('list')
  let printed = ''
  addCompletionCommand(program, (text) => {
    printed += text
  })
  await program.parseAsync(['completion', shell], { from: 'user' })
  return printed
}

/** What bash offers for the last of these words. */
async function completeInBash(words: readonly string[]): Promise<string[]> {
  const script = `${await printCompletion('bash')}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"$(complete -p "$1" | sed 's/.* -F \\([^ ]*\\) .*/\\1/')"
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
  return stdout.split('\n').filter((line) => line !== '')
}

describe('a bash completion', () => {
  for (const [line, expected] of [
    ['its-cli ', ['host', 'machine', 'completion', '--version', '--help']],
    ['its-cli h', ['host']],
    ['its-cli host ', ['add', 'list', '--help']],
    ['its-cli machine l', ['list']],
    ['its-cli machine add --', ['--name', '--nome', '--key', '--kind', '--json', '--help']],
    ['its-cli host add --kind ', ['plain', 'pretty']],
    ['its-cli host add --kind pr', ['pretty']],
    ['its-cli host add --name ', []],
    ['its-cli host add --name host --j', ['--json']],
    ['its-cli host add --key completion-t', ['completion-tree.ts']],
    ['its-cli completion ', ['bash', 'zsh', 'fish', '--help']],
    ['its-cli nonsense ', ['host', 'machine', 'completion', '--version', '--help']],
  ] as const) {
    test(`offers [${expected.join(' ')}] after \`${line}\``, async () => {
      assert.deepEqual(await completeInBash(line.split(' ')), expected)
    })
  }
})

const directory = await mkdtemp(join(tmpdir(), 'completion-'))
after(() => rm(directory, { recursive: true }))

async function writeCompletion(shell: string): Promise<string> {
  const path = join(directory, shell)
  await writeFile(path, await printCompletion(shell))
  return path
}

describe('a completion script', () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const version = spawnSync(shell, ['--version'])
    const skip = version.status === 0 ? false : `${shell} is not installed`
    test(`is accepted by ${shell}`, { skip }, async () => {
      const { status, stderr } = spawnSync(shell, ['-n', await writeCompletion(shell)])
      assert.deepEqual([status, stderr.toString()], [0, ''])
    })
  }

  const skip = spawnSync('fish', ['--version']).status === 0 ? false : 'fish is not installed'
  test('completes in fish', { skip }, async () => {
    const script = await writeCompletion('fish')
    const offered = (line: string): string[] => {
      const command = `source ${script}; complete -C ${JSON.stringify(line)}`
      const { stdout } = spawnSync('fish', ['-c', command], { encoding: 'utf8' })
      return stdout.split('\n').flatMap((row) => row.split('\t', 1)[0] || [])
    }
    assert.deepEqual(offered('its-cli h'), ['host'])
    assert.deepEqual(offered('its-cli machine l'), ['list'])
    assert.deepEqual(offered('its-cli host add --j'), ['--json'])
  })

  test('quotes what a shell would obey, in zsh', async () => {
    const script = await printCompletion('zsh')
    assert.ok(script.startsWith('#compdef its-cli\n'))
    assert.ok(script.includes(`'host:what it’s: the hosts' 'machine:what it’s: the hosts'`))
  })

  test('says what each word is for, in fish', async () => {
    const script = await printCompletion('fish')
    for (const line of [
      String.raw`complete -c its-cli -n '__its_cli_at \'its-cli host\'' -a 'add' -d 'add one'`,
      String.raw`complete -c its-cli -n '__its_cli_at \'its-cli host add\'' -l name -x -d 'its name'`,
      String.raw`complete -c its-cli -n '__its_cli_at \'its-cli host add\'' -l key -r -F -d 'its key'`,
      String.raw`complete -c its-cli -n '__its_cli_at \'its-cli host add\'' -l kind -x -a 'plain pretty' -d 'its kind'`,
    ]) {
      assert.ok(script.includes(`${line}\n`), line)
    }
  })
})
