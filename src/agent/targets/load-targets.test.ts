import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { keyTypeOf, loadTargets } from './load-targets.ts'

const ownUid = process.getuid?.() ?? 0
const isRoot = ownUid === 0
const needsRoot = isRoot ? false : 'only root can make files of other users'
const STRANGER = 4242
const AGENT = 4343

interface Host {
  readonly directory: string
  readonly put: (name: string, text?: string) => Promise<string>
  /** What is wrong, as `file:line: reason` with the directory's own path cut off. */
  readonly problems: (uid?: number) => Promise<string[]>
  readonly names: (uid?: number) => Promise<string[]>
}

function targetText(path: string, rest = ''): string {
  return `nome = "site"\n${rest}[[file]]\npath = "${path}"\ncontent = ["cert"]\n`
}

async function withHost(work: (host: Host) => Promise<void>): Promise<void> {
  const parent = await makeOwnDirectory('svc-agent-targets-')
  const directory = join(parent, 'targets.d')
  await mkdir(directory, { mode: 0o755 })
  try {
    await work({
      directory,
      async put(name, text = targetText(`/etc/${name}`)) {
        const path = join(directory, name)
        await writeFile(path, text, { mode: 0o644 })
        return path
      },
      async problems(uid = ownUid) {
        const { problems } = await loadTargets(directory, { uid })
        return problems.map(({ source, line, reason }) =>
          `${basename(source)}:${line ?? ''} ${reason}`.replaceAll(parent, ''),
        )
      },
      async names(uid = ownUid) {
        const { targets } = await loadTargets(directory, { uid })
        return targets.map(({ source }) => basename(source))
      },
    })
  } finally {
    await rm(parent, { recursive: true })
  }
}

describe('targets are loaded', WITH_OWN_PLACE, () => {
  test('[TGT-3] none when there is no directory, and none from an empty one', () =>
    withHost(async ({ directory, problems, names }) => {
      assert.deepEqual([await names(), await problems()], [[], []])
      await rm(directory, { recursive: true })
      assert.deepEqual([await names(), await problems()], [[], []])
    }))

  test('[TGT-3] from *.toml in the order of the names, and from nothing else', () =>
    withHost(async ({ directory, put, names, problems }) => {
      for (const name of [
        'b.toml',
        'B.toml',
        'a-1.toml',
        '.a.toml.swp',
        '.hidden.toml',
        'a.toml~',
        'x',
      ]) {
        await put(name)
      }
      assert.deepEqual(await names(), ['B.toml', 'a-1.toml', 'b.toml'])
      assert.deepEqual(await problems(), [])
      const { targets } = await loadTargets(directory, { uid: ownUid })
      assert.equal(targets[0]?.source, join(directory, 'B.toml'))
      assert.equal(targets[0]?.appliedBy, ownUid)
    }))

  test('[TGT-5] the others go on when one of them is wrong', () =>
    withHost(async ({ put, names, problems }) => {
      await put('a.toml', 'nome = "x"\nfiel = 1')
      await put('b.toml')
      assert.deepEqual(await names(), ['b.toml'])
      assert.deepEqual(await problems(), [
        'a.toml: there is no [[file]]',
        'a.toml:2 unknown key "fiel"',
      ])
    }))

  test('[TGT-3] 256 of them, of 64 KiB each, and no more', () =>
    withHost(async ({ put, names, problems }) => {
      for (let index = 0; index < 257; index += 1) await put(`t${1000 + index}.toml`)
      assert.equal((await names()).length, 256)
      assert.deepEqual(await problems(), [
        'targets.d: holds more than 256 targets; the others are left',
      ])
      await put('t1000.toml', `${targetText('/x')}#${'x'.repeat(64 * 1024)}`)
      assert.equal((await problems())[0], 't1000.toml: is larger than 65536 bytes')
    }))

  test('[TGT-7] several may serve one delivery, with one key type', () =>
    withHost(async ({ directory, put, names }) => {
      await put('a.toml', targetText('/a', 'key_type = "rsa-2048"\n'))
      await put('b.toml', targetText('/b', 'key_type = "rsa-2048"\n'))
      assert.deepEqual(await names(), ['a.toml', 'b.toml'])
      const { targets } = await loadTargets(directory, { uid: ownUid })
      assert.equal(keyTypeOf(targets, 'site' as ArtefactName), 'rsa-2048')
      assert.equal(keyTypeOf(targets, 'other' as ArtefactName), 'ec-p256')
    }))

  test('[SLD-11] one of a pair and one of a file may have one name; the key is as that of the pair says', () =>
    withHost(async ({ directory, put, names }) => {
      await put('a.toml', targetText('/a').replace('"cert"', '"file"'))
      await put('b.toml', targetText('/b', 'key_type = "rsa-2048"\n'))
      assert.deepEqual(await names(), ['a.toml', 'b.toml'])
      const { targets } = await loadTargets(directory, { uid: ownUid })
      assert.equal(keyTypeOf(targets, 'site' as ArtefactName), 'rsa-2048')
    }))
})

describe('targets are refused', WITH_OWN_PLACE, () => {
  test('[TGT-7] both when two write one file, and all when key types differ', () =>
    withHost(async ({ directory, put, names, problems }) => {
      await put('a.toml', targetText('/same'))
      await put('b.toml', targetText('/same').replace('site', 'other'))
      await put('c.toml', targetText('/Same'))
      assert.deepEqual(await names(), ['c.toml'])
      assert.deepEqual(await problems(), [
        'a.toml:2 "/same" is also a file of /targets.d/b.toml',
        'b.toml:2 "/same" is also a file of /targets.d/a.toml',
      ])
      await rm(join(directory, 'b.toml'))
      await put('c.toml', targetText('/c', 'key_type = "rsa-2048"\n'))
      assert.deepEqual(await names(), [])
      assert.deepEqual(await problems(), [
        'a.toml: key_type of site is ec-p256 here and rsa-2048 in /targets.d/c.toml',
        'c.toml: key_type of site is rsa-2048 here and ec-p256 in /targets.d/a.toml',
      ])
    }))

  const kinds: [string, string, (path: string, host: Host) => Promise<unknown>][] = [
    ['a symbolic link', 'is a symbolic link', (path) => symlink('b.toml', path)],
    ['a link to nothing', 'is a symbolic link', (path) => symlink('nothing', path)],
    ['a directory', 'is not a file', (path) => mkdir(path)],
    ['a pipe', 'is not a file', (path) => promisify(execFile)('mkfifo', [path])],
    ['no UTF-8', 'is not UTF-8', (path) => writeFile(path, Buffer.from([0x23, 0xff, 0x0a]))],
    [
      'writable by the group',
      'the file is writable by group or others',
      (path, { put }) => put('a.toml').then(() => chmod(path, 0o664)),
    ],
    [
      'writable by others',
      'the file is writable by group or others',
      (path, { put }) => put('a.toml').then(() => chmod(path, 0o646)),
    ],
  ]
  for (const [kind, reason, make] of kinds) {
    test(`[TGT-4] a target that is ${kind}, and no other`, () =>
      withHost(async (host) => {
        await host.put('b.toml')
        await make(join(host.directory, 'a.toml'), host)
        assert.deepEqual(await host.problems(), [`a.toml: ${reason}`])
        assert.deepEqual(await host.names(), ['b.toml'])
      }))
  }

  test('[TGT-3] a name that a message could not show', () =>
    withHost(async ({ put, problems }) => {
      await put('a\u001bb.toml')
      assert.match((await problems())[0] ?? '', /its name has characters besides letters/)
    }))

  for (const mode of [0o775, 0o757, 0o1777]) {
    test(`[TGT-4] all of them in a directory of mode ${mode.toString(8)}, or below one`, () =>
      withHost(async ({ directory, put, names, problems }) => {
        await put('a.toml')
        await chmod(directory, mode)
        assert.deepEqual(await names(), [])
        assert.deepEqual(await problems(), [
          'targets.d: the directory /targets.d is writable by group or others',
        ])
        await chmod(directory, 0o755)
        await chmod(dirname(directory), mode)
        assert.deepEqual(await problems(), [
          'targets.d: the directory  is writable by group or others',
        ])
      }))
  }

  test('[TGT-4] all of them through a symbolic link', () =>
    withHost(async ({ directory, put, problems }) => {
      await put('a.toml')
      await rename(directory, `${directory}-2`)
      await symlink('targets.d-2', directory)
      assert.deepEqual(await problems(), ['targets.d: /targets.d is a symbolic link'])
    }))

  test(
    '[TGT-4] by root what belongs to anyone else: the file, its directory, one above',
    { skip: needsRoot },
    () =>
      withHost(async ({ directory, put, names, problems }) => {
        const path = await put('a.toml')
        await put('b.toml')
        await chown(path, STRANGER, 0)
        assert.deepEqual(await problems(), [`a.toml: the file belongs to user ${STRANGER}`])
        assert.deepEqual(await names(), ['b.toml'])
        await chown(directory, STRANGER, 0)
        assert.deepEqual(await problems(), [
          `targets.d: the directory /targets.d belongs to user ${STRANGER}`,
        ])
        await chown(directory, 0, 0)
        await chown(dirname(directory), STRANGER, 0)
        assert.deepEqual(await problems(), [
          `targets.d: the directory  belongs to user ${STRANGER}`,
        ])
      }),
  )

  test('[TGT-4] by the agent what belongs to anyone but root and itself', { skip: needsRoot }, () =>
    withHost(async ({ directory, put, names, problems }) => {
      await chown(await put('a.toml'), STRANGER, 0)
      await put('b.toml')
      await chown(await put('c.toml'), AGENT, 0)
      assert.deepEqual(await names(AGENT), ['b.toml', 'c.toml'])
      assert.deepEqual(await problems(AGENT), [`a.toml: the file belongs to user ${STRANGER}`])
      await chown(directory, STRANGER, 0)
      assert.deepEqual(await names(AGENT), [])
    }),
  )
})

test(
  '[TGT-4] what root alone could write is root’s to apply, the rest the agent’s, and nothing is both',
  { skip: needsRoot },
  () =>
    withHost(async ({ directory, put }) => {
      await put('roots.toml')
      await chown(await put('agents.toml'), AGENT, 0)
      async function appliers(uid: number): Promise<Record<string, number>> {
        const { targets } = await loadTargets(directory, { uid })
        return Object.fromEntries(
          targets.map(({ source, appliedBy }) => [basename(source), appliedBy]),
        )
      }
      assert.deepEqual(await appliers(AGENT), { 'agents.toml': AGENT, 'roots.toml': 0 })
      assert.deepEqual(await appliers(0), { 'roots.toml': 0 })
      // Whoever owns a directory above could have put another file there.
      await chown(dirname(directory), AGENT, 0)
      assert.deepEqual(await appliers(AGENT), { 'agents.toml': AGENT, 'roots.toml': AGENT })
      assert.deepEqual(await appliers(0), {})
    }),
)
