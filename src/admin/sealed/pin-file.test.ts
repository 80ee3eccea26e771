// recipients.json: docs/protocol.md SEA-5.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { systemClock } from '../../platform/clock.ts'
import { tryLockFile } from '../../platform/file-lock.ts'
import { addToPinFile, pinFilePath, readPinFile } from './pin-file.ts'
import { keepPins } from './pin-keeper.ts'
import { NO_PINS, renderPins, type RecipientPins } from '../../sealing/recipients/recipient-pins.ts'

function pin(name: string, fingerprint: string): RecipientPins {
  return { ...NO_PINS, agents: new Map([[`id-${name}`, { hostname: name, fingerprint }]]) }
}

async function withPath(work: (path: string, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'pins-'))
  try {
    await work(join(directory, 'config', 'svc', 'recipients.json'), directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const modeOf = async (path: string): Promise<string> =>
  ((await stat(path)).mode & 0o777).toString(8)

describe('the path of recipients.json', () => {
  const cases: readonly (readonly [Record<string, string>, string | undefined])[] = [
    [{ HOME: '/home/ana' }, '/home/ana/.config/svc/recipients.json'],
    [{ HOME: '/home/ana', XDG_CONFIG_HOME: '/etc/ana' }, '/etc/ana/svc/recipients.json'],
    [{ HOME: '/home/ana', XDG_CONFIG_HOME: 'etc' }, '/home/ana/.config/svc/recipients.json'],
    [{ HOME: '/home/ana', XDG_CONFIG_HOME: '' }, '/home/ana/.config/svc/recipients.json'],
    [{ HOME: '/home/ana', SVC_RECIPIENTS_FILE: '/srv/known' }, '/srv/known'],
    [{ SVC_RECIPIENTS_FILE: '' }, undefined],
    [{}, undefined],
  ]
  for (const [env, path] of cases) {
    test(`[SEA-5] with ${JSON.stringify(env)} is ${path ?? 'nowhere'}`, () => {
      assert.equal(pinFilePath(env), path)
    })
  }
})

describe('recipients.json', () => {
  test('[SEA-5] is made for its owner alone, and read again', () =>
    withPath(async (path, directory) => {
      assert.deepEqual(await readPinFile(path), NO_PINS)
      await addToPinFile(path, pin('a', 'SHA256:1'), systemClock)
      assert.equal(await modeOf(path), '600')
      assert.equal(await modeOf(join(directory, 'config', 'svc')), '700')
      assert.deepEqual(await readPinFile(path), pin('a', 'SHA256:1'))
    }))

  test('[SEA-5] keeps what others added meanwhile, and the newest of an agent', () =>
    withPath(async (path) => {
      const names = ['a', 'b', 'c', 'd']
      await Promise.all(
        names.map((name) => addToPinFile(path, pin(name, `SHA256:${name}`), systemClock)),
      )
      await addToPinFile(path, pin('a', 'SHA256:new'), systemClock)
      const { agents } = await readPinFile(path)
      const prints = names.map((name) => agents.get(`id-${name}`)?.fingerprint)
      assert.deepEqual(prints, ['SHA256:new', 'SHA256:b', 'SHA256:c', 'SHA256:d'])
      const left = (await readdir(join(path, '..'))).sort()
      assert.deepEqual(left, ['recipients.json', 'recipients.json.lock'])
    }))

  test('[SEA-12] keeps what was sealed last for each carga, and of before it was kept nothing', () =>
    withPath(async (path) => {
      await mkdir(join(path, '..'), { recursive: true })
      await writeFile(path, '{"version":1,"agentes":{},"escrow":[]}')
      assert.deepEqual(await readPinFile(path), NO_PINS)
      for (const [id, versao] of [
        ['one', 1],
        ['other', 1],
        ['one', 2],
      ] as const) {
        const cargoes = new Map([[id, { versao, sha256: `${id}${versao}` }]])
        await addToPinFile(path, { ...NO_PINS, cargoes }, systemClock)
      }
      assert.deepEqual(
        [...(await readPinFile(path)).cargoes.values()],
        [
          { versao: 2, sha256: 'one2' },
          { versao: 1, sha256: 'other1' },
        ],
      )
    }))

  test('is waited for while another svc writes it, and not for ever', () =>
    withPath(async (path) => {
      await mkdir(join(path, '..'), { recursive: true })
      const lock = tryLockFile(`${path}.lock`)
      let now = 0
      const sleeps: number[] = []
      const clock = {
        now: () => new Date(now),
        sleep: (durationMs: number) => {
          sleeps.push(durationMs)
          // In large steps: each try starts a process.
          now += 4000
          return Promise.resolve()
        },
      }
      try {
        await assert.rejects(addToPinFile(path, pin('a', 'SHA256:1'), clock), {
          code: 'recipients_busy',
        })
        assert.equal(sleeps.length, 3)
      } finally {
        lock?.release()
      }
    }))

  const damaged: readonly (readonly [string, string])[] = [
    ['cut short', '{"version":1,"agentes":{'],
    ['of a newer version', '{"version":2,"agentes":{},"escrow":[]}'],
    ['of another form in its cargas', '{"version":1,"agentes":{},"escrow":[],"cargas":{"id":1}}'],
    ['of another form', '{"version":1,"agentes":{"id":"SHA256:1"},"escrow":[]}'],
    ['empty', ''],
  ]
  for (const [what, text] of damaged) {
    test(`that is ${what} is refused, and stays as it is`, () =>
      withPath(async (path) => {
        await mkdir(join(path, '..'), { recursive: true })
        await writeFile(path, text)
        await assert.rejects(readPinFile(path), { code: 'recipients_invalid' })
        await assert.rejects(addToPinFile(path, pin('a', 'SHA256:1'), systemClock))
        assert.equal(await readFile(path, 'utf8'), text)
      }))
  }

  test('whose lock is a link is not written', () =>
    withPath(async (path, directory) => {
      await mkdir(join(path, '..'), { recursive: true })
      await symlink(join(directory, 'elsewhere'), `${path}.lock`)
      await assert.rejects(addToPinFile(path, pin('a', 'SHA256:1'), systemClock))
      assert.deepEqual(await readdir(directory), ['config'])
    }))
})

describe('the keeper of recipients.json', () => {
  test('[SEA-7] adds what it is told, and nothing when it is told nothing', () =>
    withPath(async (path, directory) => {
      await keepPins(Readable.from([]), path, systemClock)
      await keepPins(Readable.from([renderPins(NO_PINS)]), path, systemClock)
      assert.deepEqual(await readdir(directory), [])
      await keepPins(Readable.from([renderPins(pin('a', 'SHA256:1'))]), path, systemClock)
      assert.deepEqual(await readPinFile(path), pin('a', 'SHA256:1'))
    }))

  test('[SEA-7] writes nothing when whoever told it died half way', () =>
    withPath(async (path, directory) => {
      const half = renderPins(pin('a', 'SHA256:1')).slice(0, -10)
      await assert.rejects(keepPins(Readable.from([half]), path, systemClock), {
        code: 'recipients_cut',
      })
      assert.deepEqual(await readdir(directory), [])
    }))
})
