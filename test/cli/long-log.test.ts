// What a transcript cannot hold: logs of more than one page, readers that go away.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AdminEntry } from '../../src/protocol/admin/views.ts'
import { createEntries, startFakeHub, type FakeHub } from './fake-hub.ts'
import { runInShell, runInShellHere, type Outcome, type RunInShell } from './run-in-shell.ts'
import { withDirectory } from './with-directory.ts'

const COUNT = 1203
const BAD_SEQ = 7

interface LogDocument {
  readonly eventos: AdminEntry[]
  readonly ok?: boolean
  readonly count?: number
  readonly head?: string
  readonly first_bad?: { readonly seq: number; readonly reason: string } | null
}

type Svc = (command: string) => Promise<Outcome>

async function besideHub(
  entries: AdminEntry[],
  work: (svc: Svc, hub: FakeHub, vaultRoot: string) => Promise<void>,
  run: RunInShell = runInShellHere,
): Promise<void> {
  await withDirectory(async (directory) => {
    // A name over 107 bytes, which no socket address can hold.
    const vaultRoot = join(directory, 'v'.repeat(120))
    const hub = await startFakeHub(vaultRoot, 'long passphrase', entries)
    try {
      await work((command) => run(command, { SVC_VAULT_ROOT: vaultRoot }), hub, vaultRoot)
    } finally {
      await hub.close()
    }
  })
}

function createTamperedEntries(): AdminEntry[] {
  return createEntries(COUNT).map((entry) =>
    entry.seq === BAD_SEQ ? { ...entry, payload_text: '{"hostname":"other"}' } : entry,
  )
}

describe('svc evento list', () => {
  test('[CLI-12] [CLI-14] prints a log of several pages, oldest first, as one JSON document', () =>
    besideHub(createEntries(COUNT), async (svc, hub) => {
      const { stdout, stderr } = await svc('svc evento list --json --verify')
      const document = JSON.parse(stdout) as LogDocument
      assert.deepEqual(document.eventos, hub.entries)
      assert.equal(document.ok, true)
      assert.equal(document.count, COUNT)
      assert.equal(document.head, hub.entries.at(-1)?.hash_atual)
      assert.equal(document.first_bad, null)
      assert.equal(stderr, '')
    }))

  test('[CLI-12] keeps the newest ones, oldest first, when the limit is over a page', () =>
    besideHub(createEntries(COUNT), async (svc, hub) => {
      const { stdout } = await svc('svc evento list --json --limit 700')
      assert.deepEqual((JSON.parse(stdout) as LogDocument).eventos, hub.entries.slice(-700))
    }))

  test('[CLI-17] [CLI-27] names the first bad entry and exits 1, also when it is not listed', () =>
    besideHub(createTamperedEntries(), async (svc) => {
      for (const options of ['', '--limit 1', '--tipo cert_renewed']) {
        const outcome = await svc(`svc evento list --json --verify ${options}`)
        const reason = 'the hash does not match the payload and timestamp'
        const document = JSON.parse(outcome.stdout) as LogDocument
        assert.equal(document.ok, false)
        assert.equal(document.count, COUNT)
        assert.deepEqual(document.first_bad, { seq: BAD_SEQ, reason })
        assert.match(
          outcome.stderr,
          /^svc: error: hash chain broken at entry 7: the hash does not match/,
        )
        assert.equal(outcome.exitStatus, 1)
      }
    }))

  test('ends without a word when its reader has gone', () =>
    besideHub(
      createEntries(COUNT),
      async (svc) => {
        const { stdout, stderr } = await svc(
          '{ svc evento list; echo "status $?" >&2; } | head -n 2 | cut -d" " -f1',
        )
        assert.equal(stdout, 'SEQ\n1\n')
        assert.equal(stderr, 'status 0\n')
      },
      runInShell,
    ))

  test('[CLI-17] still verifies the whole log when its reader has gone', () =>
    besideHub(
      createTamperedEntries(),
      async (svc) => {
        const { stderr } = await svc(
          '{ svc evento list --verify; echo "status $?" >&2; } | head -n 1',
        )
        assert.match(stderr, /^svc: error: hash chain broken at entry 7: .*\n(.*\n)?status 1\n$/)
      },
      runInShell,
    ))

  test('fails when the output cannot be written', () =>
    besideHub(
      createEntries(3),
      async (svc) => {
        const { stderr, exitStatus } = await svc('svc evento list > /dev/full')
        assert.match(stderr, /^svc: error: cannot write the output: ENOSPC/)
        assert.equal(exitStatus, 1)
      },
      runInShell,
    ))
})

describe('svc unseal', () => {
  test('[CLI-2] fails on a broken hash chain', () =>
    besideHub(createTamperedEntries(), async (svc) => {
      const { stdout, stderr, exitStatus } = await svc(
        'SVC_MASTER_PASSPHRASE="long passphrase" svc unseal',
      )
      assert.match(stdout, /passphrase ok\ndatabase ok, through the running hub\n$/)
      assert.match(stderr, /^svc: error: hash chain broken at entry 7: /)
      assert.equal(exitStatus, 1)
    }))
})
