import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { withDirectory } from './with-directory.ts'
import { recipientOf } from '../../src/sealing/age-identity.ts'
import { Secret } from '../../src/platform/secret.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { startFakeHub } from './fake-hub.ts'
import { IDENTITIES } from './fake-sealed-operations.ts'
import { type RunInShell, runInShell, runInShellHere } from './run-in-shell.ts'
import { parseTranscript, renderOutcome } from './transcript.ts'

const PASSPHRASE = 'correct horse battery staple'

async function checkTranscript(
  name: string,
  vaultRoot: string,
  run: RunInShell = runInShellHere,
): Promise<void> {
  const text = await readFile(new URL(name, import.meta.url), 'utf8')
  const steps = parseTranscript(text)
  assert.ok(steps.length > 0, `${name} has no commands`)
  const env = {
    SVC_VAULT_ROOT: vaultRoot,
    SVC_MASTER_PASSPHRASE: PASSPHRASE,
    SVC_RECIPIENTS_FILE: `${vaultRoot}.known/recipients.json`,
    HOST: await recipientOf(IDENTITIES.host),
    REBUILT: await recipientOf(IDENTITIES.rebuilt),
    ESCROW: await recipientOf(IDENTITIES.escrow),
    ESCROW_IDENTITY: IDENTITIES.escrow,
  }
  for (const { command, expected } of steps) {
    const outcome = await run(command, env)
    assert.equal(renderOutcome(outcome, vaultRoot), expected, `$ ${command}`)
  }
}

async function checkWithoutHub(name: string): Promise<void> {
  await withDirectory(async (directory) => {
    const vaultRoot = join(directory, 'vault')
    await initCheapVault(vaultRoot, new Secret(PASSPHRASE))
    await checkTranscript(name, vaultRoot)
  })
}

async function checkBesideHub(name: string): Promise<void> {
  await withDirectory(async (directory) => {
    const vaultRoot = join(directory, 'vault')
    const hub = await startFakeHub(vaultRoot, PASSPHRASE)
    try {
      await checkTranscript(name, vaultRoot)
    } finally {
      await hub.close()
    }
  })
}

// Each has dozens of commands, which on a busy machine take minutes.
const TIMEOUT = { timeout: 600_000 }

describe('svc', { concurrency: 2 }, () => {
  test('[CLI-1] [CLI-2] [CLI-15] [VLT-18] creates and checks a vault', TIMEOUT, () =>
    withDirectory((directory) =>
      checkTranscript('vault.script.txt', join(directory, 'vault'), runInShell),
    ),
  )

  test(
    '[CLI-3] [CLI-4] [CLI-14] [CLI-18] [CLI-60] works on the vault itself when no hub runs',
    TIMEOUT,
    () => checkWithoutHub('no-hub.script.txt'),
  )

  test(
    '[CLI-96] [CLI-97] [KEY-2] [KEY-4] [KEY-5] [KEY-6] [KEY-7] [KEY-8] [CLI-98] changes the keys of the vault',
    TIMEOUT,
    () => checkWithoutHub('keys.script.txt'),
  )

  test('[CLI-62] [CLI-63] makes a token for each host of a file', TIMEOUT, () =>
    checkWithoutHub('hosts.script.txt'),
  )

  test('[JNR-11] [JNR-12] makes, shows and ends join rules', TIMEOUT, () =>
    checkWithoutHub('join-rules.script.txt'),
  )

  test(
    '[CLI-5] [CLI-7] [CLI-8] [CLI-10] [CLI-12] [CLI-14] [CLI-18] [CLI-20] [CLI-29] [CLI-30] [CLI-35] [CLI-61] [CLI-64] [CLI-149] [CLI-180] [CLI-181] [LBL-8] [LBL-11] works through the hub that holds the vault',
    TIMEOUT,
    () => checkBesideHub('beside-hub.script.txt'),
  )

  test(
    '[CLI-160] [CLI-161] [CLI-162] [CLI-165] begins, shows, holds back and undoes rollouts',
    TIMEOUT,
    () => checkBesideHub('rollouts.script.txt'),
  )

  test('[SES-16] [SES-17] shows who is signed in, and makes links', TIMEOUT, () =>
    checkBesideHub('sessions.script.txt'),
  )

  test('[CLI-44] [CLI-45] [TRU-10] [TRU-13] shows the roots, and changes them', TIMEOUT, () =>
    checkBesideHub('bundle.script.txt'),
  )

  test(
    '[SEA-3] [SEA-4] [SEA-5] [SEA-6] [SEA-8] [SEA-9] [SEA-10] seals files for those whom the operator knows',
    TIMEOUT,
    () => checkBesideHub('sealed.script.txt'),
  )

  test(
    '[POL-5] [POL-8] [POL-9] [POL-16] [POL-20] [POL-24] [CLI-48] lays down what holds for the agents of a role, or for those that match',
    TIMEOUT,
    () => checkWithoutHub('politica.script.txt'),
  )

  test('[CLI-15] explains mistakes in its arguments', TIMEOUT, () =>
    withDirectory((directory) => checkTranscript('mistakes.script.txt', join(directory, 'vault'))),
  )
})
