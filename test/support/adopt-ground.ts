// A host in a directory, on which files are taken over step by step.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import type { AdoptHost } from '../../src/agent/adopt/adopt-host.ts'
import type { Adoption } from '../../src/agent/adopt/adoption.ts'
import { AdoptionStore } from '../../src/agent/adopt/adoption-store.ts'
import { createRealHost } from '../../src/agent/adopt/real-host.ts'
import { makeOwnDirectory } from './own-place.ts'

/** The world ends before a step. */
export class Stopped extends Error {}

const TIME = 1_700_000_000
export const RENEWS = '* * * * * root step ca renew /etc/site.crt /etc/site.key'

/** A host in a directory: a link as certbot has it, a plain key, certbot's settings, a table of cron, a unit. */
export class Ground {
  readonly base: string
  readonly adoption: Adoption
  unit = 'enabled'
  isServing = true
  /** Of calls that are still let through. */
  left = Number.POSITIVE_INFINITY

  constructor(base: string) {
    this.base = base
    this.adoption = {
      format: 1,
      id: 'site-nginx',
      nome: 'site',
      services: ['nginx'],
      phase: 'taking',
      target_path: this.path('targets.d/site-nginx.toml'),
      target_text: 'name = "site"\n',
      places: [
        { path: this.path('live/site.pem'), sha256: hash('sha256', 'old certificate', 'hex') },
        { path: this.path('tls/site.key'), sha256: hash('sha256', 'old key', 'hex') },
      ],
      applied: [],
      reload: ['reload'],
      probes: [{ host: '127.0.0.1', port: 443, protocol: 'tls', server_name: null }],
      former_serial: 'old',
      former_not_after: '2026-01-01T00:00:00.000Z',
      stops: [
        {
          kind: 'rename',
          from: this.path('renewal/site.conf'),
          to: this.path('renewal/site.conf.svc-adopted'),
        },
        { kind: 'line', path: this.path('cron'), line: RENEWS },
        { kind: 'unit', unit: 'step@site.timer', is_enabled: true, is_active: true },
      ],
    }
  }

  path(name: string): string {
    return join(this.base, 'host', name)
  }

  async fill(): Promise<void> {
    for (const name of ['live', 'archive', 'tls', 'renewal', 'targets.d']) {
      await mkdir(this.path(name), { recursive: true })
    }
    const files = {
      'archive/site1.pem': 'old certificate',
      'tls/site.key': 'old key',
      'tls/other.key': 'not ours',
      'renewal/site.conf': 'fullchain = x',
      'renewal/other.conf': 'fullchain = y',
      cron: `# cron\n${RENEWS}\n0 0 * * * root true\n`,
      'targets.d/other.toml': 'other',
    }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(this.path(name), text)
      await chmod(this.path(name), name.endsWith('.key') ? 0o640 : 0o644)
      await utimes(this.path(name), TIME, TIME)
    }
    await symlink('../archive/site1.pem', this.path('live/site.pem'))
  }

  /** One who takes steps until there are none left. */
  hand(): { readonly host: AdoptHost; readonly store: AdoptionStore } {
    const host = new Proxy(this.#host(), {
      get: (target, key: keyof AdoptHost) => {
        const method = target[key] as (...args: unknown[]) => Promise<unknown>
        return async (...args: unknown[]) => {
          this.left -= 1
          if (this.left < 0) throw new Stopped(key)
          return method(...args)
        }
      },
    })
    return { host, store: new AdoptionStore(join(this.base, 'state'), host) }
  }

  #host(): AdoptHost {
    const places = this.adoption.places.map(({ path }) => path)
    return {
      ...createRealHost({
        applyTarget: async (_, source) => {
          assert.equal(await readFile(source, 'utf8'), this.adoption.target_text)
          for (const path of places) {
            assert.ok((await lstat(path)).isFile(), 'a target replaces plain files only')
            await writeFile(path, 'new')
          }
          return { serial: 'new', reason: 'applied' }
        },
        // As root's state of targets has it once a pass was made.
        listApplied: async () =>
          places.map((path) => ({ path, sha256: hash('sha256', 'new', 'hex') })),
        settleTarget: () => Promise.resolve(),
        withoutPasses: (work) => work(),
      }),
      // Without a program for each, and without waiting for the disk: the real ones are shown with real services.
      copyAsIs: copyPlainly,
      copyContent: async (from, to) => copyPlainly(await realPathOf(from), to),
      create: (path, text, mode) => writeFile(path, text, { mode, flag: 'wx' }),
      syncDirectory: () => Promise.resolve(),
      reload: () => Promise.resolve(undefined),
      probe: async (_, serial) => {
        const texts = await Promise.all(places.map((path) => readFile(path, 'utf8')))
        const isNew = texts.every((text) => text === 'new') && this.isServing
        const served = isNew ? 'new' : 'old'
        return served === serial ? undefined : `serves ${served}`
      },
      stopUnit: async () => void (this.unit = 'disabled'),
      startUnit: async (_, { enable, start }) => {
        if (enable && start) this.unit = 'enabled'
      },
    }
  }

  /** Everything that can be seen of the host: paths, modes, times, links and contents. */
  async picture(): Promise<string[]> {
    const names = await readdir(join(this.base, 'host'), { recursive: true })
    const lines = await Promise.all(
      names.toSorted().map(async (name) => {
        const path = this.path(name)
        const stats = await lstat(path)
        if (stats.isDirectory()) return name
        const content = stats.isSymbolicLink() ? await readlink(path) : await readFile(path, 'utf8')
        const seen = stats.isSymbolicLink() ? 'link' : `${stats.mode.toString(8)} ${stats.mtimeMs}`
        return `${name} ${seen} ${content}`
      }),
    )
    return [...lines, `unit ${this.unit}`, ...(await this.#left())]
  }

  /** Copies hold keys: nothing stays of an adoption that is over. */
  async #left(): Promise<string[]> {
    return readdir(join(this.base, 'state')).catch(() => [])
  }
}

async function realPathOf(path: string): Promise<string> {
  return (await lstat(path)).isSymbolicLink() ? join(path, '..', await readlink(path)) : path
}

async function copyPlainly(from: string, to: string): Promise<void> {
  await rm(to, { force: true })
  const stats = await lstat(from)
  if (stats.isSymbolicLink()) return symlink(await readlink(from), to)
  await copyFile(from, to)
  await chmod(to, stats.mode)
  await utimes(to, stats.atime, stats.mtime)
}

export async function withGround(work: (ground: Ground) => Promise<void>): Promise<void> {
  const base = await makeOwnDirectory('svc-agent-adopt-')
  try {
    const ground = new Ground(base)
    await ground.fill()
    await work(ground)
  } finally {
    await rm(base, { recursive: true })
  }
}
