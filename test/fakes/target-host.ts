// A host with one target in memory: its files, a server that reads them when it is told to, and trouble at will.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import {
  applyTargets,
  type PassOptions,
  type TargetsPass,
} from '../../src/agent/targets/apply-targets.ts'
import type { TargetReport } from '../../src/agent/targets/target-report.ts'
import type { Target, TargetFile } from '../../src/agent/targets/target.ts'
import { createLogging } from '../../src/platform/logger.ts'
import type { ArtefactName } from '../../src/protocol/identifiers.ts'
import { FakeTargetDisk, Killed } from './target-disk.ts'

const STATE = '/state'
const LOG = createLogging({
  filter: { levelOf: () => 'off' },
  format: 'json',
  destination: { write: () => undefined },
}).forModule('test')

/** A host with one target, a server that reads its files when it is told to, and a disk with trouble to come. */
export class TargetHost {
  readonly disk = new FakeTargetDisk()
  target: Target
  /** Of the pair in `out/`. */
  serial = '01'
  /** Of a file in `out/`. */
  version: number | undefined = undefined
  /** What `ca` stands for; undefined where the material is a file. */
  caPem: string | undefined = undefined
  deliveryId = 'a2a2a2a2-0000-4000-8000-000000000001'
  nowMs = Date.UTC(2026, 0, 1)
  /** What the server read last; a file that was not there is not in it. */
  served = new Map<string, string>()
  reloads = 0
  reloadFails = false
  reloadPrints = ''
  /** Somebody has removed its file. */
  isTargetGone = false
  probeFails = false
  placeRefused: string | undefined = undefined

  constructor(paths: readonly string[], target: Partial<Target> = {}) {
    for (const directory of [
      STATE,
      ...new Set(paths.map((path) => path.replace(/\/[^/]+$/, ''))),
    ]) {
      this.disk.putDirectory(directory)
    }
    this.target = {
      source: '/targets.d/site.toml',
      sourceSha256: 'aa',
      name: 'site' as ArtefactName,
      artefact: 'pair',
      keyType: 'ec-p256',
      reload: ['reload'],
      reportsOutput: true,
      probe: { host: '127.0.0.1', port: 1, protocol: 'tls', serverName: undefined },
      files: paths.map((path, index): TargetFile => ({
        path,
        content: { format: 'pem', parts: ['cert', 'key'] },
        owner: undefined,
        group: undefined,
        mode: index % 2 === 0 ? 0o600 : 0o640,
        line: 1,
      })),
      ...target,
    }
  }

  /** One process: it begins, makes a pass and ends. */
  pass(options: PassOptions = {}): Promise<TargetsPass> {
    const { disk, target } = this
    return applyTargets(
      {
        stateDir: STATE,
        files: disk,
        clock: { now: () => new Date(this.nowMs), sleep: () => Promise.resolve() },
        log: LOG,
        newRequestId: randomUUID,
        loadTargets: () =>
          Promise.resolve({ targets: this.isTargetGone ? [] : [target], problems: [] }),
        readMaterial: () =>
          Promise.resolve({
            ok: true,
            serial: this.serial,
            version: this.version,
            material:
              this.caPem === undefined
                ? { content: Buffer.from(this.serial) }
                : { leafPem: '', chainPems: [], keyPem: '', caPem: this.caPem },
            deliveryId: this.deliveryId,
          }),
        parts: {
          checkPlace: () => Promise.resolve(this.placeRefused),
          ownerOf: () => Promise.resolve({ uid: 33, gid: 34 }),
          render: () => Promise.resolve(Buffer.from(`content ${this.serial}`)),
          reload: async () => {
            disk.tick()
            this.reloads += 1
            this.served = this.stand()
            return this.reloadFails
              ? { reason: 'exit status 1', output: this.reloadPrints }
              : undefined
          },
          passwordOf: () => Promise.resolve(undefined),
          probe: async (_probe, serial) => {
            disk.tick()
            const isServed = [...this.served.values()].every((text) => text.includes(serial))
            return isServed && !this.probeFails ? undefined : 'another serial is served'
          },
        },
      },
      options,
    )
  }

  /** A pass that trouble may end at any moment. */
  async troubledPass(): Promise<void> {
    await this.pass().catch((error: unknown) => {
      if (error instanceof Killed || isSystemError(error)) return
      throw error
    })
    this.disk.restart()
  }

  /** What stands at the target's paths, owner and mode included. */
  stand(): Map<string, string> {
    const standing = new Map<string, string>()
    for (const { path } of this.target.files) {
      const image = this.disk.look(path)
      if (image === undefined) continue
      const { content, uid, gid, mode } = image
      standing.set(path, `${Buffer.from(content).toString()} ${uid}:${gid} ${mode.toString(8)}`)
    }
    return standing
  }

  /** What should stand there once `serial` is applied. */
  whole(serial: string): Map<string, string> {
    return new Map(
      this.target.files.map(({ path, mode }) => [
        path,
        `content ${serial} 33:34 ${mode.toString(8)}`,
      ]),
    )
  }

  leftovers(): string[] {
    const places = this.target.files.flatMap(({ path }) => [path, dirname(path)])
    const own = new Set([...places, `${STATE}/applied.json`])
    return ['/state', '/etc', '/srv']
      .flatMap((directory) => this.disk.paths(directory))
      .filter((path) => !own.has(path) && path !== '/state/journal')
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && /^(ENOSPC|EIO)/.test(error.message)
}

/** Old files of three kinds: one of ours, one of somebody else's, and none. */
export async function hostWithOldFiles(target: Partial<Target> = {}): Promise<TargetHost> {
  const host = new TargetHost(['/etc/a.pem', '/etc/b.pem', '/srv/c.pem', '/srv/tls/d.pem'], target)
  await host.pass()
  assert.deepEqual(host.stand(), host.whole('01'))
  host.disk.putFile('/etc/b.pem', file('somebody else’s', 5, 0o444))
  host.disk.removeQuietly('/srv/tls/d.pem')
  host.disk.removeQuietly('/srv/tls')
  host.served = host.stand()
  host.serial = '02'
  return host
}

export function file(text: string, uid: number, mode: number) {
  return { content: Buffer.from(text), uid, gid: uid, mode }
}

/** How many operations a change is made of: each of them is tried. */
export async function countOperations(): Promise<number> {
  const host = await hostWithOldFiles()
  const before = host.disk.operations
  await host.pass()
  return host.disk.operations - before
}

/** Types and steps. */
export const kindsOf = (reports: readonly TargetReport[]): string[] =>
  reports.map(({ tipo_evento: type, payload }) =>
    type === 'alvo_revertido' ? `${type} ${payload.step}` : type,
  )
