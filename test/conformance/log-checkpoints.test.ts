// Checkpoints of the audit log, and what a vault that was put back can no longer hide: docs/protocol.md CHN-15 to CHN-18.

import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestHub } from '../support/hub.ts'
import { failToStart } from '../support/boot-here.ts'
import { testWitness } from '../support/test-witness.ts'
import { waitUntil } from '../support/processes.ts'
import { createTestHub } from '../support/test-hub.ts'
import { embeddedAlone, ENTRIES_OF_JOINING } from '../support/test-store.ts'
import { useCa } from '../support/use-hub.ts'

const { ca } = useCa()

const LOST = embeddedAlone('the journal gives back what a vault has lost that was put back')

interface Kept extends TestHub {
  readonly outside: string
  /** The checkpoint outside the vault, when it is of at least so many entries. */
  checkpointOf(entries: number): Promise<string>
}

/** A hub that keeps its checkpoints outside its vault. */
async function startKeptHub(): Promise<Kept> {
  const hub = await createTestHub({ caEnvironment: ca.environment })
  const outside = join(hub.directory, 'outside')
  await mkdir(outside)
  Object.assign(hub.environment, { SVC_CHECKPOINT_PATH: outside })
  await hub.start()
  return Object.assign(hub, {
    outside,
    checkpointOf: (entries: number) =>
      waitUntil(`a checkpoint of ${entries} entries`, async () => {
        const name = (await readdir(outside)).find((each) => each.endsWith('.checkpoint'))
        if (name === undefined) return undefined
        const text = await readFile(join(outside, name), 'utf8').catch(() => '')
        return Number(text.split('\n')[1]) >= entries ? text : undefined
      }),
  })
}

/** The whole vault as it was when it had its own certificate and one token, put back after a second token. */
async function putBack(hub: Kept): Promise<string> {
  const copy = join(hub.directory, 'yesterday')
  await hub.createToken({ hostname: 'h1' })
  await hub.checkpointOf(2)
  await hub.stop()
  await cp(hub.vaultRoot, copy, { recursive: true })
  await hub.start()
  await hub.createToken({ hostname: 'h2' })
  const checkpoint = await hub.checkpointOf(3)
  await hub.stop()
  await rm(hub.vaultRoot, { recursive: true })
  await cp(copy, hub.vaultRoot, { recursive: true })
  return checkpoint
}

describe('[CHN-17] [CHN-18] [ENV-42] a vault that was put back', () => {
  test(
    'is refused while a newer checkpoint is known, and goes on in an epoch of its own',
    LOST,
    async () => {
      await using hub = await startKeptHub()
      const checkpoint = await putBack(hub)
      const ended = await failToStart(hub.environment)
      assert.equal(ended.status, 1)
      assert.match(
        ended.stderr,
        /svc-server: error: \S+\.checkpoint: the checkpoint was signed for 3 entries, and the vault has 2 of them/,
      )
      assert.match(ended.stderr, /svc unseal --accept-loss/)
      assert.equal((await hub.svc('unseal')).status, 1)
      const accepted = await hub.svc('unseal', '--accept-loss')
      assert.equal(accepted.status, 0, accepted.stderr)
      await hub.start()
      const renewed = await hub.checkpointOf(3)
      const [, epoch] = /^cartorio\/[0-9a-f-]{36}\/(\d{10,})\n3\n/.exec(renewed) ?? []
      const { stdout, status } = await hub.svc('evento', 'list', '--verify', '--json')
      assert.equal(status, 0)
      const { eventos } = JSON.parse(stdout) as {
        eventos: { tipo_evento: string; payload: Record<string, unknown> }[]
      }
      const loss = eventos.find(({ tipo_evento: type }) => type === 'audit_loss_accepted')
      assert.equal(loss?.payload['checkpoint'], checkpoint)
      assert.equal(loss?.payload['epoca'], Number(epoch))
      // What was signed before is kept for whoever asks what happened.
      const aside = (await readdir(hub.outside)).find((name) => /\.checkpoint\../.test(name))
      assert.equal(await readFile(join(hub.outside, aside ?? ''), 'utf8'), checkpoint)
    },
  )

  test('is found by whoever kept a checkpoint, where the hub keeps none', LOST, async () => {
    await using hub = await startKeptHub()
    const path = join(hub.directory, 'kept.checkpoint')
    await writeFile(path, await putBack(hub))
    Object.assign(hub.environment, { SVC_CHECKPOINT_PATH: '' })
    await hub.start()
    assert.equal((await hub.svc('evento', 'list', '--verify')).status, 0)
    const ended = await hub.svc('evento', 'list', '--verify', '--limit', '1', '--checkpoint', path)
    assert.equal(ended.status, 1)
    assert.match(ended.stderr, /a checkpoint was signed for 3 entries, and the log has 2/)
  })

  test('a directory that is not there stops the start: it may be one that is not mounted', async () => {
    await using hub = await startKeptHub()
    await hub.checkpointOf(1)
    await hub.stop()
    // Not removed: what the hub is writing there may end after the hub, and then fails.
    await rename(hub.outside, `${hub.outside}.gone`)
    const ended = await failToStart(hub.environment)
    assert.equal(ended.status, 1)
    assert.match(ended.stderr, /svc-server: error: SVC_CHECKPOINT_PATH: ENOENT/)
    // One that is there and empty is what a place to mount something looks like: the log says so.
    await mkdir(hub.outside)
    await hub.start()
    assert.match(hub.logText(), /No checkpoint outside the vault to hold it against/)
  })

  test('a checkpoint that cannot be written stops nothing, and is written when it can be', async () => {
    await using hub = await startKeptHub()
    await hub.checkpointOf(1)
    // Not removed: what the hub is writing there may end after the hub, and then fails.
    await rename(hub.outside, `${hub.outside}.gone`)
    await writeFile(hub.outside, '')
    await hub.createToken({ hostname: 'h1' })
    await waitUntil(
      'the warning',
      () => /Checkpoint not kept outside/.test(hub.logText()) || undefined,
    )
    await hub.createToken({ hostname: 'h2' })
    await rm(hub.outside)
    await mkdir(hub.outside)
    await hub.createToken({ hostname: 'h3' })
    await hub.checkpointOf(4)
  })
})

describe('[CLI-88] svc checkpoint', () => {
  test('prints what was signed last, and the key that somebody keeps to verify it', async () => {
    await using hub = await startKeptHub()
    if (ENTRIES_OF_JOINING === 0) await hub.createToken({ hostname: 'h1' })
    const kept = await hub.checkpointOf(2)
    const printed = await hub.svc('checkpoint')
    assert.equal(printed.stdout, kept)
    assert.match(
      printed.stdout,
      /^cartorio\/([0-9a-f-]{36})\n2\n[A-Za-z0-9+/]{43}=\n\n— cartorio\/\1 [A-Za-z0-9+/=]+\n$/,
    )
    const key = (await hub.svc('checkpoint', '--key')).stdout.trim()
    assert.match(key, /^cartorio\/[0-9a-f-]{36}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/)
    const verified = await hub.svc('evento', 'list', '--verify', '--key', key)
    assert.match(verified.stdout, /\nhash chain ok: 2 entries, head \S+\ncheckpoint ok: 2 entries/)
    await hub.stop()
    assert.equal((await hub.svc('checkpoint')).stdout, kept)
  })

  test('[CLI-123] [CLI-124] [CHN-39] [API-85] asks witnesses of others, and keeps what they have signed', async () => {
    await using hub = await startKeptHub()
    const witness = testWitness()
    // The first entry is the hub's own certificate, or that the hub joined.
    if (ENTRIES_OF_JOINING === 0) await hub.createToken({ hostname: 'h1' })
    const newest = await hub.checkpointOf(2)
    const svc = async (...args: readonly string[]): Promise<string> => {
      const { stdout, stderr } = await hub.svc('checkpoint', ...args)
      return stderr === '' ? stdout : (stderr.split('\n')[0] ?? '')
    }
    assert.equal(await svc('--add-checkpoint', '0'), `old 0\n\n${newest}`)
    assert.equal(await svc('--add-checkpoint', '2'), `old 2\n\n${newest}`)
    assert.match(await svc('--add-checkpoint', '1'), /^old 1\n[A-Za-z0-9+/]{43}=\n\ncartorio/)
    assert.match(await svc('--add-checkpoint', '9'), /^svc: error: no entry lies after 9/)
    assert.equal(
      await svc('--cosigned'),
      'svc: error: nobody had the vault keep a cosigned checkpoint',
    )

    const path = join(hub.directory, 'cosigned.checkpoint')
    const keep = async (note: string, ...more: readonly string[]): Promise<string> => {
      await writeFile(path, note)
      return svc('--cosigned', path, '--witness-key', witness.key, ...more)
    }
    const cosigned = witness.cosign(newest)
    assert.equal(await keep(newest), 'svc: error: witness witness.example/w1 has not signed it')
    assert.match(await keep(cosigned, '--dry-run'), /checkpoint_cosigned/)
    // The log goes on from what was signed, however it has grown since.
    await hub.createToken({ hostname: 'h3' })
    assert.equal(
      await keep(testWitness('another.example').cosign(cosigned)),
      'kept: a checkpoint of 2 entries\nsigned by witness.example/w1 at 2026-09-21T14:13:20.000Z\n',
    )
    assert.equal(await svc('--cosigned'), cosigned)
    await keep(cosigned)
    const { stdout } = await hub.svc('evento', 'list', '--tipo', 'checkpoint_cosigned', '--json')
    const { eventos } = JSON.parse(stdout) as { eventos: { payload: object }[] }
    assert.deepEqual(
      eventos.map(({ payload }) => payload),
      [{ actor: 'admin', entries: 2, witnesses: ['witness.example/w1'], checkpoint: cosigned }],
    )
    await hub.stop()
    assert.equal(await svc('--cosigned'), cosigned)
  })
})
