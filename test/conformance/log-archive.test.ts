// Old entries outside the vault, as operators see them: docs/protocol.md ARC, CLI-140 to CLI-142, API-90, API-91.

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { appendAged } from '../support/aged-log.ts'
import type { TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { createTestHub, startTestCa } from '../support/test-hub.ts'
import { ENTRIES_OF_JOINING } from '../support/test-store.ts'

const OLD = 600
const YOUNG = 1100

describe('[ARC-1] [ENV-50] the archive of the log', () => {
  const started = new AsyncDisposableStack()
  let hub: TestHub
  let archive: string
  let file: string
  let key: string
  before(async () => {
    const ca = started.use(await startTestCa())
    hub = started.use(await createTestHub({ caEnvironment: ca.environment }))
    archive = join(hub.directory, 'archive')
    await mkdir(archive)
    Object.assign(hub.environment, { SVC_LOG_ARCHIVE_DIR: archive })
    await appendAged(hub, [
      { count: OLD, daysAgo: 100 },
      { count: YOUNG - ENTRIES_OF_JOINING, daysAgo: 1 },
    ])
    await hub.start()
    await waitUntil('a checkpoint of all entries', async () => {
      const { stdout } = await hub.svc('checkpoint')
      return Number(stdout.split('\n')[1]) >= OLD + YOUNG ? true : undefined
    })
    key = (await hub.svc('checkpoint', '--key')).stdout.trim()
  })
  after(() => started.disposeAsync())

  const segments = async (): Promise<{ file: string; state: string }[]> => {
    const { stdout } = await hub.svc('event', 'segments', '--json')
    return (JSON.parse(stdout) as { segments: { file: string; state: string }[] }).segments
  }

  test('[CLI-140] [CLI-142] [API-90] [API-91] svc evento archive moves old entries into segments, and says how far', async () => {
    const early = await hub.svc('event', 'archive', '--before', '400d')
    assert.deepEqual(
      [early.stdout, early.stderr, early.status],
      ['no event is archived: none is old enough\n', '', 0],
    )
    const rehearsed = await hub.svc('event', 'archive', '--before', '90d', '--dry-run', '--json')
    assert.partialDeepStrictEqual(JSON.parse(rehearsed.stdout) as object, {
      acts: [{ tipo: 'log_archived', payload: { actor: 'admin', desde: 1, ate: 512 } }],
    })
    const { stdout, stderr, status } = await hub.svc('event', 'archive', '--before', '90d')
    assert.deepEqual(
      [stdout, stderr, status],
      ['events 1 to 512 are archived; svc event segments lists their files\n', '', 0],
    )
    const again = await hub.svc('event', 'archive', '--before', '90d', '--json')
    assert.deepEqual(JSON.parse(again.stdout), { archived_until: 512 })
    const [only, ...more] = await segments()
    assert.deepEqual([only?.state, more], ['present', []])
    file = only?.file ?? ''
    assert.deepEqual(await readdir(archive), [file])
    assert.equal((await stat(join(archive, file))).mode & 0o777, 0o600)
    const table = await hub.svc('event', 'segments')
    assert.match(table.stdout, /^FIRST +LAST +FIRST_AT +LAST_AT +BYTES +STATE +FILE\n1 +512 /)
  })

  test('[ARC-8] lists, --verify and export go on through the segments', async () => {
    const { stdout, stderr, status } = await hub.svc('event', 'list', '--verify', '--json')
    assert.deepEqual([stderr, status], ['', 0])
    const log = JSON.parse(stdout) as {
      eventos: { seq: number }[]
      count: number
      missing?: object
    }
    assert.equal(log.count, OLD + YOUNG + 2)
    assert.deepEqual(
      [log.eventos.length, log.eventos[0]?.seq, log.missing],
      [log.count, 1, undefined],
    )
    const page = await hub.svc('event', 'list', '--after', '500', '--limit', '20', '--json')
    const { eventos } = JSON.parse(page.stdout) as { eventos: { seq: number }[] }
    assert.deepEqual([eventos.length, eventos[0]?.seq], [20, 501])
    for (const range of [[], ['--after', '300', '--before', '700']]) {
      const path = join(hub.directory, `log-${range.length}.export`)
      const written = await hub.svc('event', 'export', '--out', path, ...range)
      assert.deepEqual([written.stderr, written.status], ['', 0])
      const verified = await hub.svc('event', 'verify', path, '--key', key)
      assert.deepEqual([verified.stderr, verified.status], ['', 0])
    }
  })

  test('[ARC-7] [CLI-141] a segment that is missing is named, and everything else is still verified', async () => {
    await rename(join(archive, file), join(hub.directory, file))
    assert.equal((await segments())[0]?.state, 'missing')
    const verified = await hub.svc('event', 'list', '--verify', '--limit', '1')
    assert.deepEqual([verified.stderr, verified.status], ['', 0])
    assert.match(verified.stdout, /hash chain ok: 1702 entries, .*\ncheckpoint ok: \d+ entries/)
    assert.ok(
      verified.stdout.endsWith(
        `\nnot read: entries 1 to 512, of which only the hashes are known; their segment is missing: ${file}\n`,
      ),
    )
    const all = await hub.svc('event', 'list', '--json')
    const listed = JSON.parse(all.stdout) as { eventos: { seq: number }[]; missing: object }
    assert.deepEqual(listed.missing, [{ first: 1, last: 512, file }])
    assert.deepEqual([listed.eventos[0]?.seq, listed.eventos.length], [513, OLD + YOUNG + 2 - 512])
    const newest = await hub.svc('event', 'list', '--limit', '1500')
    assert.match(
      newest.stdout,
      /\nwarning: the entries 1 to 512 are in a segment that cannot be read: /,
    )
    const path = join(hub.directory, 'whole.export')
    const refused = await hub.svc('event', 'export', '--out', path)
    assert.equal(refused.status, 1)
    assert.match(
      refused.stderr,
      /^svc: error: \S+ cannot be read \(ENOENT\): it has the entries 1 to 512 of the audit log\nsvc: hint: put the file, or another copy of it, where SVC_LOG_ARCHIVE_DIR is; svc event segments shows all of them\n$/,
    )
    const part = await hub.svc('event', 'export', '--out', path, '--after', '512')
    assert.deepEqual([part.stderr, part.status], ['', 0])
    assert.equal((await hub.svc('event', 'verify', path, '--key', key)).status, 0)
    await rename(join(hub.directory, file), join(archive, file))
    assert.equal((await segments())[0]?.state, 'present')
  })

  test('[EVD-3] [EVD-5] [ARC-8] evidence goes on through segments, and names the one that is missing', async () => {
    const evidence = async (from: string, out: string) => {
      const path = join(hub.directory, out)
      const ended = await hub.svc('evidence', '--from', from, '--to', '0d', '--out', path)
      return { ...ended, text: await readFile(path, 'utf8') }
    }
    const whole = await evidence('400d', 'whole.evidence')
    assert.deepEqual([whole.stderr, whole.status], ['', 0])
    const records = (text: string): number => text.match(/^\{"record"/gm)?.length ?? 0
    assert.ok(records(whole.text) >= OLD + YOUNG)
    await rename(join(archive, file), join(hub.directory, file))
    const part = await evidence('400d', 'part.evidence')
    assert.equal(
      part.stderr,
      'svc: error: 512 entries of the log are not there: the evidence is incomplete\n',
    )
    assert.equal(part.status, 2)
    const why = `the segment ${file} is missing or damaged`
    assert.ok(part.text.includes(`\n{"absent":{"after":0,"until":512,"why":"${why}"}}\n`))
    assert.ok(records(part.text) >= OLD + YOUNG - 512)
    const young = await evidence('30d', 'young.evidence')
    assert.deepEqual([young.stderr, young.status], ['', 0])
    await rename(join(hub.directory, file), join(archive, file))
  })

  test('[ARC-9] a backup has no segments, and is verified without them', async () => {
    const path = join(hub.directory, 'vault.svcbackup')
    assert.equal((await hub.svc('backup', path)).status, 0)
    const verified = await hub.svc('backup', 'verify', path, '--json')
    assert.deepEqual([verified.stderr, verified.status], ['', 0])
  })

  test('[ARC-8] [ARC-11] [CLI-143] a hub starts again, and svc reads the vault without one', async () => {
    await hub.stop()
    const { stdout, stderr, status } = await hub.svc('unseal', '--json')
    assert.deepEqual([stderr, status], ['', 0])
    assert.partialDeepStrictEqual(JSON.parse(stdout) as object, { hash_chain: { ok: true } })
    const compacted = await hub.svc('vault', 'compact', '--json')
    const sizes = JSON.parse(compacted.stdout) as { bytes_before: number; bytes_after: number }
    assert.ok(sizes.bytes_after < sizes.bytes_before * 0.9, compacted.stdout)
    const { size } = await stat(join(hub.vaultRoot, 'db.enc'))
    assert.equal(size, sizes.bytes_after)
    const checked = await hub.svc('unseal', '--json')
    assert.partialDeepStrictEqual(JSON.parse(checked.stdout) as object, {
      database: { ok: true },
      hash_chain: { ok: true },
    })
    await writeFile(join(archive, file), 'another file')
    const damaged = await hub.svc('unseal')
    assert.match(damaged.stderr, /svcsegment is no segment of an audit log\n/)
    Object.assign(hub.environment, { SVC_LOG_ARCHIVE_DIR: '' })
    const refused = await hub.svc('event', 'archive', '--before', '30d')
    assert.deepEqual(
      [refused.status, refused.stderr],
      [
        1,
        'svc: error: SVC_LOG_ARCHIVE_DIR is not set\nsvc: hint: set SVC_LOG_ARCHIVE_DIR to a directory for segments of the audit log, and start the hub again\n',
      ],
    )
    await hub.start()
  })
})
