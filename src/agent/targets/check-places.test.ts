import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  link,
  mkdir,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { checkPlace, checkPlaces, missingDirectories } from './check-places.ts'
import type { Applier } from './target-applier.ts'
import type { TargetFile } from './target.ts'

const ownUid = process.getuid?.() ?? 0
const ownGid = process.getgid?.() ?? 0
const isRoot = ownUid === 0
const needsRoot = isRoot ? false : 'only root can make files of other users'
const STRANGER = 4242
const AGENT = 4343

const SELF: Applier = { uid: ownUid, gid: ownGid, groupIds: [], ownDirectories: [] }

interface Host {
  readonly root: string
  /** Where the file shall go: `<root>/etc/tls/site.pem`. */
  readonly path: string
  /** The reason, with the temporary directory's path cut off. */
  readonly reason: (
    file?: Partial<TargetFile>,
    applier?: Partial<Applier>,
  ) => Promise<string | undefined>
}

async function withHost(work: (host: Host) => Promise<void>): Promise<void> {
  const root = await makeOwnDirectory('svc-agent-places-')
  await mkdir(join(root, 'etc/tls'), { recursive: true, mode: 0o755 })
  const path = join(root, 'etc/tls/site.pem')
  try {
    await work({
      root,
      path,
      async reason(file, applier) {
        const reason = await checkPlace(fileAt(path, file), { ...SELF, ...applier })
        return reason?.replaceAll(root, '')
      },
    })
  } finally {
    await rm(root, { recursive: true })
  }
}

function fileAt(path: string, rest: Partial<TargetFile> = {}): TargetFile {
  return {
    path,
    content: { format: 'pem', parts: ['cert'] },
    owner: undefined,
    group: undefined,
    mode: 0o644,
    line: 7,
    ...rest,
  }
}

describe('a place', WITH_OWN_PLACE, () => {
  test('[TGT-8] is right, with nothing there or an own file, and is left as it is', () =>
    withHost(async ({ root, path, reason }) => {
      assert.equal(await reason(), undefined)
      await writeFile(path, 'old')
      assert.equal(await reason(), undefined)
      assert.deepEqual(await readdir(join(root, 'etc/tls')), ['site.pem'])
    }))

  test('[TGT-8] may want for its last directory, which a change of the target makes', () =>
    withHost(async ({ root, path, reason }) => {
      assert.deepEqual(await missingDirectories({ files: [fileAt(path)] }), [])
      await rm(join(root, 'etc/tls'), { recursive: true })
      assert.equal(await reason(), undefined)
      assert.deepEqual(await missingDirectories({ files: [fileAt(path), fileAt(path)] }), [
        join(root, 'etc/tls'),
      ])
      assert.deepEqual(await readdir(join(root, 'etc')), [])
    }))

  test('[TGT-8] is refused with the line of its [[file]]', () =>
    withHost(async ({ root, path }) => {
      const files = [fileAt(path), fileAt(join(root, 'no/tls/x'), { line: 12 })]
      assert.deepEqual(await checkPlaces({ source: '/t.toml', files }, SELF), [
        { source: '/t.toml', line: 12, reason: `the directory ${root}/no does not exist` },
      ])
    }))

  const PLACES: [string, string, (host: Host) => Promise<unknown>][] = [
    [
      'more than whose last directory is missing',
      'the directory /etc does not exist',
      ({ root }) => rm(join(root, 'etc'), { recursive: true }),
    ],
    [
      'in a directory that is missing, where others may make another',
      'the directory /etc is writable by group or others',
      async ({ root }) => {
        await rm(join(root, 'etc/tls'), { recursive: true })
        await chmod(join(root, 'etc'), 0o777)
      },
    ],
    [
      'whose directory is a file',
      '/etc/tls is not a directory',
      async ({ root }) => {
        await rm(join(root, 'etc/tls'), { recursive: true })
        await writeFile(join(root, 'etc/tls'), '')
      },
    ],
    [
      'whose directory is a symbolic link',
      '/etc/tls is a symbolic link',
      async ({ root }) => {
        await rename(join(root, 'etc/tls'), join(root, 'etc/tls-2'))
        await symlink('tls-2', join(root, 'etc/tls'))
      },
    ],
    [
      'with a symbolic link further up',
      '/etc is a symbolic link',
      async ({ root }) => {
        await rename(join(root, 'etc'), join(root, 'etc-2'))
        await symlink(join(root, 'etc-2'), join(root, 'etc'))
      },
    ],
    [
      'whose directory the group may write',
      'the directory /etc/tls is writable by group or others',
      ({ root }) => chmod(join(root, 'etc/tls'), 0o775),
    ],
    [
      'whose directory others may write',
      'the directory /etc/tls is writable by group or others',
      ({ root }) => chmod(join(root, 'etc/tls'), 0o757),
    ],
    [
      'in a sticky directory',
      'the directory /etc/tls is writable by group or others',
      ({ root }) => chmod(join(root, 'etc/tls'), 0o1777),
    ],
    [
      'below a directory that others may write',
      'the directory /etc is writable by group or others',
      ({ root }) => chmod(join(root, 'etc'), 0o777),
    ],
    [
      'that is a symbolic link',
      '/etc/tls/site.pem is a symbolic link',
      ({ path, root }) => symlink(join(root, 'etc/passwd'), path),
    ],
    ['that is a directory', '/etc/tls/site.pem is not a regular file', ({ path }) => mkdir(path)],
    [
      'that has another name',
      '/etc/tls/site.pem has 2 hard links',
      async ({ path, root }) => {
        await writeFile(path, '')
        await link(path, join(root, 'elsewhere'))
      },
    ],
  ]
  for (const [kind, expected, make] of PLACES) {
    test(`[TGT-8] ${kind} is refused`, () =>
      withHost(async (host) => {
        await make(host)
        assert.equal(await host.reason(), expected)
      }))
  }

  test('[TGT-8] in /tmp is refused', async () => {
    const reason = await checkPlace(fileAt('/tmp/site.pem'), SELF)
    assert.equal(reason, 'the directory /tmp is writable by group or others')
  })

  test('[TGT-8] among what the agent keeps is refused, by whatever name it goes', () =>
    withHost(async ({ root, reason }) => {
      const own = join(root, 'etc')
      assert.equal(
        await reason({}, { ownDirectories: [own] }),
        "/etc/tls is in /etc, which is the agent's own",
      )
      await symlink('etc', join(root, 'alias'))
      await mkdir(join(root, 'etc-2'))
      assert.equal(
        await reason({}, { ownDirectories: [join(root, 'etc-2'), join(root, 'nothing')] }),
        undefined,
      )
      const viaLink = join(root, 'alias/tls')
      assert.equal(
        await reason({}, { ownDirectories: [viaLink] }),
        "/etc/tls is in /alias/tls, which is the agent's own",
      )
      assert.equal(
        await reason({}, { ownDirectories: [join(root, 'alias')] }),
        "/etc/tls is in /alias, which is the agent's own",
      )
    }))
})

describe('whose a place is', { skip: needsRoot }, () => {
  test('[TGT-8] root writes over a file of its own or of the owner that the target names, and of nobody else', () =>
    withHost(async ({ path, reason }) => {
      await writeFile(path, '')
      await chown(path, STRANGER, 0)
      const belongs = `/etc/tls/site.pem belongs to user ${STRANGER}`
      assert.equal(await reason(), `${belongs}, and the target gives it to root`)
      assert.equal(
        await reason({ owner: '4243' }),
        `${belongs}, and the target gives it to user 4243`,
      )
      assert.equal(
        await reason({ owner: 'daemon' }),
        `${belongs}, and the target gives it to user daemon`,
      )
      assert.equal(await reason({ owner: `${STRANGER}` }), undefined)
    }))

  test('[TGT-8] root writes into no directory of anyone else, and below none', () =>
    withHost(async ({ root, reason }) => {
      await chown(join(root, 'etc/tls'), STRANGER, 0)
      assert.equal(
        await reason({ owner: `${STRANGER}` }),
        `the directory /etc/tls belongs to user ${STRANGER}`,
      )
      await chown(join(root, 'etc/tls'), 0, 0)
      await chown(join(root, 'etc'), STRANGER, 0)
      assert.equal(await reason(), `the directory /etc belongs to user ${STRANGER}`)
    }))

  test('[TGT-8] the agent writes into directories of its own and root’s, over files of its own and root’s', () =>
    withHost(async ({ root, path, reason }) => {
      await chown(join(root, 'etc/tls'), AGENT, AGENT)
      await writeFile(path, '')
      const agent = { uid: AGENT, gid: AGENT }
      assert.equal(await reason({}, agent), undefined)
      await chown(path, AGENT, AGENT)
      assert.equal(await reason({}, agent), undefined)
      await chown(path, STRANGER, AGENT)
      assert.equal(
        await reason({}, agent),
        `/etc/tls/site.pem belongs to user ${STRANGER}, and the target gives it to user ${AGENT}`,
      )
    }))
})

describe('whose a file will be', WITH_OWN_PLACE, () => {
  const agent = { uid: AGENT, gid: AGENT, groupIds: [77] }
  const OWNERS: [string, Partial<TargetFile>, Partial<Applier>, string | undefined][] = [
    [
      'an unknown user',
      { owner: 'nobody-of-this-name' },
      {},
      'there is no user nobody-of-this-name',
    ],
    ['an unknown group', { group: 'no-such-group' }, {}, 'there is no group no-such-group'],
    ['another user, by the agent', { owner: '0' }, agent, 'only root can give a file to user 0'],
    [
      'another user by name, by the agent',
      { owner: 'root' },
      agent,
      'only root can give a file to user root',
    ],
    [
      'a group that the agent is not in',
      { group: '78' },
      agent,
      `user ${AGENT} is not in group 78`,
    ],
    ['a group that the agent is in', { owner: `${AGENT}`, group: '77' }, agent, undefined],
    ['the agent’s own', { owner: `${AGENT}`, group: `${AGENT}` }, agent, undefined],
    ['root’s by name', { owner: 'root', group: 'root' }, { uid: 0, gid: 0 }, undefined],
    [
      'anyone’s by number, by root',
      { owner: '5000', group: '5001' },
      { uid: 0, gid: 0 },
      undefined,
    ],
  ]
  for (const [kind, file, applier, expected] of OWNERS) {
    test(
      `[TGT-8] ${kind}: ${expected === undefined ? 'fine' : 'refused'}`,
      { skip: expected === undefined && needsRoot },
      () => withHost(async ({ reason }) => assert.equal(await reason(file, applier), expected)),
    )
  }
})

describe('a password file', WITH_OWN_PLACE, () => {
  async function reasonFor(host: Host): Promise<string | undefined> {
    const passwordFile = join(host.root, 'etc/password')
    return host.reason({ content: { format: 'pkcs12', passwordFile } })
  }
  const FILES: [string, string | undefined, (path: string, host: Host) => Promise<unknown>][] = [
    ['missing', 'password_file: /etc/password does not exist', () => Promise.resolve()],
    ['private', undefined, (path) => writeFile(path, 'x', { mode: 0o600 })],
    [
      'read by its group, as by the server that needs it too',
      undefined,
      (path) => writeFile(path, 'x', { mode: 0o640 }),
    ],
    [
      'read by others',
      'password_file: /etc/password can be read by others',
      (path) => writeFile(path, 'x', { mode: 0o644 }),
    ],
    [
      'written by its group',
      'password_file: /etc/password is writable by group or others',
      async (path) => {
        await writeFile(path, 'x')
        await chmod(path, 0o660)
      },
    ],
    [
      'a symbolic link',
      'password_file: /etc/password is a symbolic link',
      (path) => symlink('/etc/shadow', path),
    ],
    [
      'a directory',
      'password_file: /etc/password is not a regular file',
      (path) => mkdir(path, { mode: 0o700 }),
    ],
  ]
  for (const [kind, expected, make] of FILES) {
    test(`[TGT-8] ${kind}: ${expected === undefined ? 'fine' : 'refused'}`, () =>
      withHost(async (host) => {
        await make(join(host.root, 'etc/password'), host)
        assert.equal(await reasonFor(host), expected)
      }))
  }

  test('[TGT-8] of somebody else, or where others may write: refused', { skip: needsRoot }, () =>
    withHost(async (host) => {
      const path = join(host.root, 'etc/password')
      await writeFile(path, 'x', { mode: 0o600 })
      await chown(path, STRANGER, 0)
      assert.equal(
        await reasonFor(host),
        `password_file: /etc/password belongs to user ${STRANGER}`,
      )
      await mkdir(join(host.root, 'open'))
      await chmod(join(host.root, 'open'), 0o777)
      const content = { format: 'pkcs12', passwordFile: join(host.root, 'open/password') } as const
      assert.equal(
        await host.reason({ content }),
        'password_file: the directory /open is writable by group or others',
      )
    }),
  )
})
