import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startFakeHub } from './fake-hub.ts'
import { parseTranscript, renderOutcome, runInShell } from './transcript.ts'

const PASSPHRASE = 'correct horse battery staple'

async function checkTranscript(name: string, vaultRoot: string): Promise<void> {
  const text = await readFile(new URL(name, import.meta.url), 'utf8')
  const steps = parseTranscript(text)
  assert.ok(steps.length > 0, `${name} has no commands`)
  const env = { SVC_VAULT_ROOT: vaultRoot, SVC_MASTER_PASSPHRASE: PASSPHRASE }
  for (const { command, expected } of steps) {
    const outcome = await runInShell(command, env)
    assert.equal(renderOutcome(outcome, vaultRoot), expected, `$ ${command}`)
  }
}

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

describe('svc', () => {
  test('creates and checks a vault', () =>
    withDirectory((directory) => checkTranscript('vault.script.txt', join(directory, 'vault'))))

  test('works on the vault itself when no hub runs', () =>
    withDirectory((directory) => checkTranscript('no-hub.script.txt', join(directory, 'vault'))))

  test('works through the hub that holds the vault', () =>
    withDirectory(async (directory) => {
      const vaultRoot = join(directory, 'vault')
      const hub = await startFakeHub(vaultRoot, PASSPHRASE)
      try {
        await checkTranscript('beside-hub.script.txt', vaultRoot)
      } finally {
        await hub.close()
      }
    }))

  test('explains mistakes in its arguments', () =>
    withDirectory((directory) => checkTranscript('mistakes.script.txt', join(directory, 'vault'))))
})
