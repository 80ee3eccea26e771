// A real browser verifies the log of a real hub, the greater part of which is archived: docs/protocol.md CHN-33.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { logSigner } from '../../src/hub/service/log-tree.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import { unsealVault } from '../../src/hub/vault/vault.ts'
import { noteSigner, type NoteSigner, signNote } from '../../src/audit/signed-note.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { invariant } from '../../src/platform/errors.ts'
import { Secret } from '../../src/platform/secret.ts'
import { createSeededRandom, seedFrom } from '../simulation/seeded-random.ts'
import { appendAged } from '../support/aged-log.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { PASSPHRASE, type TestHub } from '../support/hub.ts'
import { makeContents, makeLog } from '../support/made-export.ts'
import { waitUntil } from '../support/processes.ts'
import { createTestHub, startTestCa } from '../support/test-hub.ts'
import { type BrowserCase, runInBrowser } from './browser/run-page.ts'

const OLD = 4200
const YOUNG = 2000
/** Whole blocks of OLD are archived, 4,096 entries; of these and others is the part. */
const AFTER = 3900
const UNTIL = 4300
const CHANGED_ANYWHERE = 60

/** What is wrong with an export, in the words that the page is to say. */
interface Falsification extends Omit<BrowserCase, 'key'> {
  readonly what: string
  readonly says: string
  readonly entry?: number
  readonly key?: string
}

describe('[CHN-33] in a real browser', WITH_BROWSER, () => {
  const started = new AsyncDisposableStack()
  let hub: TestHub
  let key: string
  /** Of all but the last entries. */
  let kept: string
  let whole: Buffer
  let part: Buffer
  let keyOfHub: NoteSigner
  before(async () => {
    const ca = started.use(await startTestCa())
    hub = started.use(await createTestHub({ caEnvironment: ca.environment }))
    const archive = join(hub.directory, 'archive')
    await mkdir(archive)
    Object.assign(hub.environment, { SVC_LOG_ARCHIVE_DIR: archive })
    const content = (index: number) => ({
      payloadText: JSON.stringify({ actor: 'admin', hostname: `h${index}.example`, note: 'ç 𝄞 "' }),
    })
    await appendAged(hub, [
      { count: OLD, daysAgo: 100, content },
      { count: YOUNG, daysAgo: 1, content },
    ])
    await hub.start()
    kept = await checkpointOf(OLD + YOUNG)
    key = (await hub.svc('checkpoint', '--key')).stdout.trim()
    await run('event', 'archive', '--before', '90d')
    await hub.createToken({ hostname: 'last.example' })
    await checkpointOf(OLD + YOUNG + 2)
    whole = await exported('whole')
    part = await exported('part', '--after', String(AFTER), '--before', String(UNTIL + 1))
    await hub.stop()
    keyOfHub = await stealKey()
  })
  after(() => started.disposeAsync())

  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr, status } = await hub.svc(...words)
    assert.deepEqual([stderr, status], ['', 0])
    return stdout
  }
  const checkpointOf = (entries: number): Promise<string> =>
    waitUntil(`a checkpoint of ${entries} entries`, async () => {
      const { stdout } = await hub.svc('checkpoint')
      return Number(stdout.split('\n')[1]) >= entries ? stdout : undefined
    })
  const exported = async (name: string, ...range: string[]): Promise<Buffer> => {
    const path = join(hub.directory, `${name}.export`)
    await run('event', 'export', '--out', path, ...range)
    return readFile(path)
  }
  /** What an operator has who rewrites history. */
  const stealKey = async (): Promise<NoteSigner> => {
    const vault = await unsealVault(hub.vaultRoot, new Secret(PASSPHRASE))
    const store = await openVaultStore(vault, { clock: systemClock })
    const tree = await store.reader.findLogTree()
    await store.close()
    invariant(tree !== undefined, 'it has signed')
    return logSigner(tree)
  }

  test('an export of the whole log, and of a part of it, is good, and the page has its turn meanwhile', async (t) => {
    const entries = OLD + YOUNG + 2
    const { agent, results } = await runInBrowser([
      { bytes: whole, key },
      { bytes: whole, key, isFile: true },
      { bytes: whole, key, kept },
      { bytes: part, key },
    ])
    t.diagnostic(`${agent}: ${results.map(({ ms }) => `${ms} ms`).join(', ')}`)
    const expected = { ok: true, after: 0, until: entries, size: entries }
    const [{ verified } = assert.fail(), file, grown, ofPart] = results
    assert.partialDeepStrictEqual(verified, expected)
    assert.deepEqual([file?.verified, grown?.verified], [verified, verified])
    assert.partialDeepStrictEqual(ofPart?.verified, { ok: true, after: AFTER, until: UNTIL })
    for (const { steps, turns } of results.slice(0, 3)) {
      assert.ok(steps >= entries / 64, `${steps} steps`)
      assert.ok(turns >= steps, `${turns} turns of others in ${steps} steps`)
    }
  })

  test('[CHN-32] each falsification is refused in words', async () => {
    const falsifications = [...ofEntries(), ...ofProofs(), ...ofTheEnd()]
    const { results } = await runInBrowser(
      falsifications.map((falsification) => ({ key, ...falsification })),
    )
    assert.deepEqual(
      results.map(({ verified }, at) => [falsifications[at]?.what, verified]),
      falsifications.map(({ what, says: reason, entry }) => [
        what,
        { ok: false, reason, ...(entry !== undefined && { entry }) },
      ]),
    )
  })

  test('[CHN-32] another byte anywhere is refused', async (t) => {
    const seed = seedFrom(process.env['FC_SEED'])
    t.diagnostic(`FC_SEED=${seed}`)
    const random = createSeededRandom(seed)
    const changes = Array.from({ length: CHANGED_ANYWHERE }, () => {
      const bytes = Buffer.from(part)
      const at = Math.floor(random() * bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
      return { at, bytes }
    })
    const { results } = await runInBrowser(changes.map(({ bytes }) => ({ bytes, key })))
    for (const [index, { verified }] of results.entries()) {
      assert.equal(verified.ok, false, `byte ${changes[index]?.at}`)
    }
  })

  function ofEntries(): Falsification[] {
    const lines = part.toString().split('\n')
    const edit = (at: number, from: string, to: string): Buffer => {
      const line = lines[at] ?? ''
      assert.ok(line.includes(from))
      return joined(lines.with(at, line.replace(from, to)))
    }
    const notSigned = 'the entries are not those that the checkpoint was signed for'
    const number = 'it has another number'
    return [
      {
        what: 'the payload of an archived entry',
        bytes: edit(70, 'h3969.example', 'h3968.example'),
        says: 'the hash does not match the payload and timestamp',
        entry: AFTER + 70,
      },
      {
        what: 'a column that the chain does not cover',
        bytes: edit(300, '13:agent_started', '13:agent_stopped'),
        says: notSigned,
      },
      {
        what: 'a row is dropped',
        bytes: joined(lines.toSpliced(30, 1)),
        says: number,
        entry: AFTER + 30,
      },
      {
        what: 'two rows are swapped',
        bytes: joined(lines.with(20, lines[21] ?? '').with(21, lines[20] ?? '')),
        says: number,
        entry: AFTER + 20,
      },
      {
        what: 'a row stands twice',
        bytes: joined(lines.toSpliced(20, 0, lines[20] ?? '')),
        says: number,
        entry: AFTER + 21,
      },
      {
        what: 'a row is no record',
        bytes: joined(lines.with(9, '"x"')),
        says: 'it is no record',
        entry: AFTER + 9,
      },
    ]
  }

  /** Of the checkpoint, the hashes of the rest, and histories that were made again. */
  function ofProofs(): Falsification[] {
    const [line = '', ...records] = part.toString().split('\n')
    const head = JSON.parse(line) as { checkpoint: string; left: string[]; right: string[] }
    const withHead = (change: object): Buffer =>
      joined([JSON.stringify({ ...head, ...change }), ...records])
    const text = `${head.checkpoint.split('\n\n')[0]}\n`
    const other = noteSigner(keyOfHub.name, generateKeyPairSync('ed25519').privateKey)
    const rewritten = makeLog(makeContents(OLD + YOUNG + 2), keyOfHub)
    const others = makeLog(makeContents(3), other)
    const notSigned = 'the entries are not those that the checkpoint was signed for'
    const count = 'the hashes of the other entries are not as many as there are'
    const notWithKey = 'the checkpoint is not signed with this key'
    const [root = ''] = head.right
    return [
      {
        what: 'a checkpoint that another key has signed, which bears the name',
        bytes: withHead({ checkpoint: signNote(text, other) }),
        says: notWithKey,
      },
      {
        what: 'a checkpoint that says another size',
        bytes: withHead({ checkpoint: head.checkpoint.replace(/\n[0-9]+\n/, '\n6201\n') }),
        says: notWithKey,
      },
      {
        what: 'a log of another key',
        bytes: Buffer.from(others.exportOf()),
        says: 'the export names another key',
      },
      {
        what: 'a proof with another hash',
        bytes: withHead({ left: head.left.with(0, root) }),
        says: notSigned,
      },
      {
        what: 'a proof with a hash too few',
        bytes: withHead({ right: head.right.slice(1) }),
        says: count,
      },
      {
        what: 'a proof with a hash too many',
        bytes: withHead({ left: [...head.left, root] }),
        says: count,
      },
      {
        what: 'another history, all made again with the key of the log',
        bytes: Buffer.from(rewritten.exportOf()),
        kept,
        // With the hub's own certificate.
        says: `the first ${OLD + YOUNG + 1} entries are not those of the kept checkpoint`,
      },
      { what: 'a key that is none', bytes: part, key: 'x', says: 'this is not the key of a log' },
    ]
  }

  function ofTheEnd(): Falsification[] {
    const lines = part.toString().split('\n')
    return [
      {
        what: 'the last row is gone',
        bytes: joined(lines.toSpliced(-2, 1)),
        says: `the export ends with entry ${UNTIL - 1} of ${UNTIL}`,
      },
      {
        what: 'the file is cut off',
        bytes: part.subarray(0, Math.floor(part.length / 2)),
        says: 'the export is cut off within a line',
      },
      {
        what: 'a row more',
        bytes: joined(lines.toSpliced(-1, 0, lines.at(-2) ?? '')),
        says: 'there is more after the last entry',
      },
      {
        what: 'an empty file',
        bytes: Buffer.of(),
        says: 'the first line is not that of an export of the log',
      },
    ]
  }
})

function joined(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join('\n'))
}
