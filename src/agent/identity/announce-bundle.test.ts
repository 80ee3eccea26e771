import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { announceBundle, announceBundleAgain } from './announce-bundle.ts'
import type { Identity } from './identity.ts'

test('[BKP-20] the roots that the agent trusts are reported once, and once again in each later epoch of the log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'announced-'))
  const file = join(directory, 'announced-bundle')
  const bundle = { numero: 3, request_id: '0192f0c1-2b3c-7d4e-8f50-617283940506' }
  const identity = {
    record: { bundle },
    roots: [{ sha256: 'a'.repeat(64) }],
  } as unknown as Identity
  const reported: (string | undefined)[] = []
  const outbox = {
    enqueue: async (_event: unknown, requestId?: string) => void reported.push(requestId),
  }
  const announce = () => announceBundle(identity, undefined, outbox, file)
  await announceBundleAgain(file)
  for (const epochs of [1, 2, 3]) {
    await announce()
    await announce()
    assert.equal(new Set(reported).size, epochs)
    assert.equal(reported.length, epochs)
    await announceBundleAgain(file)
    // A kill comes in between.
    await announceBundleAgain(file)
  }
  await rm(directory, { recursive: true })
})
