// The log as others verify it, without hub and vault: docs/protocol.md CHN-30 to CHN-32, CLI-105 to CLI-108, API-80.

import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { waitUntil, type Ended } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { ENTRIES_OF_JOINING } from '../support/test-store.ts'
import { useHub } from '../support/use-hub.ts'

/** One of them is of the hub's own certificate, all others are of tokens. */
const ENTRIES = 270
const FEW = 100

let key: string
let kept: string
const { hub } = useHub(async (started) => {
  const signed = async (entries: number): Promise<string> =>
    waitUntil(`a checkpoint of ${entries} entries`, async () => {
      const { stdout } = await started.svc('checkpoint')
      return Number(stdout.split('\n')[1]) >= entries ? stdout : undefined
    })
  const hosts = join(started.directory, 'hosts')
  const fill = async (from: number, to: number): Promise<void> => {
    const names = Array.from({ length: to - from }, (_, at) => `h${from + at}.example web\n`)
    await writeFile(hosts, names.join(''))
    const { stderr, status } = await started.svc('token', 'create', '--file', hosts, '--json')
    assert.equal(status, 0, stderr)
  }
  await fill(1 + ENTRIES_OF_JOINING, FEW)
  kept = join(started.directory, 'kept.checkpoint')
  await writeFile(kept, await signed(FEW))
  await fill(FEW, ENTRIES)
  await signed(ENTRIES)
  key = (await started.svc('checkpoint', '--key')).stdout.trim()
})

let count = 0

async function exported(...options: readonly string[]): Promise<string> {
  count += 1
  const path = join(hub.directory, `log-${count}.export`)
  const { stdout, stderr, status } = await hub.svc('evento', 'export', '--out', path, ...options)
  assert.deepEqual([stdout, stderr, status], [`${path}\n`, '', 0])
  return path
}

/** Nothing is set that names a vault or a hub. */
function verify(file: string, ...options: readonly string[]): Promise<Ended> {
  return runSvcHere(['event', 'verify', file, ...options], { SVC_VAULT_ROOT: '/nonexistent' })
}

describe('svc evento export and verify', () => {
  test('[CLI-105] [CLI-107] [CLI-108] of the whole log, and with a checkpoint that somebody kept', async () => {
    const file = await exported()
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const { stdout, stderr, status } = await verify(file, '--key', key)
    assert.deepEqual([stderr, status], ['', 0])
    assert.match(
      stdout,
      /^hash chain ok: 270 entries, head [0-9a-f]{64}\ncheckpoint ok: 270 entries, root [A-Za-z0-9+/]{43}=\n$/,
    )
    const grown = await verify(file, '--key', key, '--checkpoint', kept)
    assert.match(grown.stdout, /\nthe log goes on from the checkpoint of 100 entries\n$/)
    const json = JSON.parse((await verify(file, '--key', key, '--json')).stdout) as object
    assert.partialDeepStrictEqual(json, {
      ok: true,
      after: 0,
      until: 270,
      first_bad: null,
      checkpoint: { ok: true, entries: 270, key, reason: null },
      kept_entries: null,
    })
  })

  test('[CHN-30] [CHN-31] [API-80] of any part of it, with the hashes of the rest', async () => {
    for (const [after, end] of [
      [0, 1],
      [1, 3],
      [255, 258],
      [100, 257],
      [257, 271],
      [270, 271],
    ] as const) {
      const file = await exported('--after', String(after), '--before', String(end))
      const lines = (await readFile(file, 'utf8')).split('\n')
      assert.equal(lines.length, 1 + (end - 1 - after) + 1)
      const { stdout, stderr, status } = await verify(file, '--key', key)
      assert.deepEqual([stderr, status], ['', 0], `${after} to ${end}`)
      assert.match(stdout, /checkpoint ok: 270 entries/)
    }
    const since = await exported('--after', '100')
    const grown = await verify(since, '--key', key, '--checkpoint', kept)
    assert.match(grown.stdout, /170 entries, 101 to 270, head .*\n.*\nthe log goes on from/)
    const later = await exported('--after', '101')
    const outside = await verify(later, '--key', key, '--checkpoint', kept)
    assert.match(
      outside.stderr,
      /^svc: error: \S+: the checkpoint that was kept is of 100 entries, and the export begins after 101 and ends with 270\nsvc: hint: export the log from that checkpoint on/,
    )
    assert.equal(outside.status, 1)
  })

  test('[CLI-105] goes to standard output too, and says what cannot be', async () => {
    const whole = await readFile(await exported(), 'utf8')
    assert.equal((await hub.svc('event', 'export', '--out', '-')).stdout, whole)
    const refused = async (...args: readonly string[]): Promise<string> => {
      const { stdout, stderr, status } = await hub.svc('evento', 'export', ...args)
      assert.deepEqual([stdout, status], ['', 1])
      return stderr
    }
    assert.match(await refused('--out', '-', '--json'), /--out - goes neither with --json/)
    assert.match(
      await refused('--out', join(hub.directory, 'x'), '--after', '900'),
      /no entry lies after 900 and before 271; the checkpoint is of 270 entries/,
    )
    assert.match(
      await refused('--out', '/nonexistent/x'),
      /^svc: error: cannot use \/nonexistent\/x: no such file or directory\n$/,
    )
  })

  test('[CLI-106] replaces no file unasked, and leaves none behind', async () => {
    const file = await exported()
    const names = await readdir(hub.directory)
    const again = await hub.svc('evento', 'export', '--out', file)
    assert.equal(
      again.stderr,
      `svc: error: ${file} exists already\nsvc: hint: choose another name, or replace it with --replace\n`,
    )
    const replaced = await hub.svc('evento', 'export', '--out', file, '--replace', '--json')
    assert.deepEqual(JSON.parse(replaced.stdout), { file })
    assert.deepEqual(await readdir(hub.directory), names)
  })

  test('[CLI-108] [CHN-32] names what was changed, and exits 1', async () => {
    const lines = (await readFile(await exported(), 'utf8')).split('\n')
    const changed = async (with_: readonly string[]): Promise<string> => {
      const file = join(hub.directory, 'changed.export')
      await writeFile(file, with_.join('\n'))
      const { stdout, stderr, status } = await verify(file, '--key', key)
      assert.deepEqual([stdout, status], ['', 1])
      return stderr.split('\n')[0]?.replace(file, 'FILE') ?? ''
    }
    const edit = (at: number, from: string, to: string): string[] =>
      lines.with(at, lines[at]?.replace(from, to) ?? '')
    assert.equal(
      await changed(edit(7, 'h6.example', 'h9.example')),
      'svc: error: hash chain broken at entry 7: the hash does not match the payload and timestamp',
    )
    assert.equal(
      await changed(edit(7, '13:token_created', '13:token_revoked')),
      'svc: error: log not as it was signed: its entries are not those that its checkpoint was signed for',
    )
    assert.equal(
      await changed(lines.toSpliced(7, 1)),
      'svc: error: FILE: it ends with entry 269 of 270: its end was cut off',
    )
    assert.equal(
      await changed(edit(7, '"', '')),
      'svc: error: FILE, line 8: what should be entry 7 is no record',
    )
    assert.equal(
      await changed(['x']),
      'svc: error: FILE, line 1: it is cut off: it has no line break',
    )
    assert.equal(await changed(['']), 'svc: error: FILE is empty')
    assert.match(
      await changed(edit(0, '"until":270', '"until":271')),
      /it says that it has more than was signed/,
    )
  })

  test('[CLI-121] [CLI-122] the proof of one entry is about as long as a page, and verified alone', async () => {
    for (const seq of [2 + ENTRIES_OF_JOINING, 257, 270]) {
      const { stdout: proof, stderr, status } = await hub.svc('evento', 'proof', String(seq))
      assert.deepEqual([stderr, status], ['', 0])
      assert.ok(proof.length < 3000)
      const file = join(hub.directory, 'entry.tlog-proof')
      await writeFile(file, proof)
      const verified = await verify(file, '--key', key)
      assert.match(
        verified.stdout,
        new RegExp(
          `^entry ${seq} ok: token_created of the hub at \\S+Z, hash [0-9a-f]{64}\npayload: \\{.*"hostname":"h${seq - 1}.example".*\\}\ncheckpoint ok: 270 entries, root [A-Za-z0-9+/]{43}=\n$`,
        ),
      )
      const json = JSON.parse((await verify(file, '--key', key, '--json')).stdout) as object
      assert.partialDeepStrictEqual(json, {
        ok: true,
        evento: { seq, tipo_evento: 'token_created', agente_id: null },
        checkpoint: { entries: 270, key },
      })
      await writeFile(file, proof.replace('\n270\n', '\n271\n'))
      const changed = await verify(file, '--key', key)
      assert.match(
        changed.stderr,
        /^svc: error: \S+: its checkpoint is not signed with this key\nsvc: hint: make the proof again/,
      )
      assert.deepEqual([changed.stdout, changed.status], ['', 1])
    }
    const { stderr } = await hub.svc('evento', 'proof', '9000')
    assert.match(stderr, /^svc: error: the log has no entry 9000\n/)
    const json = JSON.parse((await hub.svc('evento', 'proof', '7', '--json')).stdout) as object
    assert.partialDeepStrictEqual(json, { seq: 7, entries: 270, key })
  })

  test('[CLI-120] receipts are held against a whole log only', async () => {
    const receipts = join(hub.directory, 'none.receipts.jsonl')
    await writeFile(receipts, '')
    const ofAll = await verify(await exported(), '--key', key, '--receipts', receipts, '--json')
    assert.deepEqual((JSON.parse(ofAll.stdout) as { receipts: unknown }).receipts, {
      ok: true,
      count: 0,
      faults: [],
    })
    const part = await exported('--after', '100')
    const { stderr, status } = await verify(part, '--key', key, '--receipts', receipts)
    assert.equal(
      stderr,
      `svc: error: ${part}: receipts are of any entry, and the export begins after entry 100\nsvc: hint: export the whole log\n`,
    )
    assert.equal(status, 1)
  })

  test('[CLI-108] is refused without a key, with another one, and with what is none', async () => {
    const file = await exported()
    // The base64 may have a plus as well.
    const [name = '', keyHash = '', ...base64] = key.split('+')
    const other = `${name}+${keyHash}+AA${base64.join('+').slice(2)}`
    assert.notEqual(other, key)
    for (const [options, message] of [
      [[], "required option '--key <key>' not specified"],
      [['--key', 'x'], '--key: this is not the key of a log'],
      [['--key', other], '--key: this is not the key of a log'],
      [['--key', key, '--checkpoint', file], `${file} has more than the 65536 bytes allowed`],
      [['--key', key, '--receipts', kept], `${kept}, line 1: this is no receipt`],
    ] as const) {
      const { stderr, status } = await verify(file, ...options)
      assert.equal(stderr.split('\n')[0], `svc: error: ${message}`)
      assert.equal(status, 1)
    }
  })
})
