import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { withDirectory } from './with-directory.ts'
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

describe('svc', { concurrency: true }, () => {
  test('[CLI-1] [CLI-2] [CLI-15] creates and checks a vault', () =>
    withDirectory((directory) => checkTranscript('vault.script.txt', join(directory, 'vault'))))

  test('[CLI-3] [CLI-4] [CLI-14] [CLI-18] works on the vault itself when no hub runs', () =>
    withDirectory((directory) => checkTranscript('no-hub.script.txt', join(directory, 'vault'))))

  test('[CLI-5] [CLI-7] [CLI-8] [CLI-10] [CLI-12] [CLI-14] [CLI-18] [CLI-20] works through the hub that holds the vault', () =>
    withDirectory(async (directory) => {
      const vaultRoot = join(directory, 'vault')
      const hub = await startFakeHub(vaultRoot, PASSPHRASE)
      try {
        await checkTranscript('beside-hub.script.txt', vaultRoot)
      } finally {
        await hub.close()
      }
    }))

  test('[CLI-15] explains mistakes in its arguments', () =>
    withDirectory((directory) => checkTranscript('mistakes.script.txt', join(directory, 'vault'))))
})
