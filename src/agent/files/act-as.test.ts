import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { actAs, findOwnerOf } from './act-as.ts'

const SPARE = { uid: 65534, gid: 65534 }
const NAMELESS = { uid: 54_321, gid: 54_322 }
const isRoot = process.getuid?.() === 0
const onlyAsRoot = isRoot ? false : 'only root can take the rights of others'

const rights = () => ({
  uid: process.getuid?.(),
  euid: process.geteuid?.(),
  egid: process.getegid?.(),
  groups: process.getgroups?.(),
})

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'act-as-'))
  await chmod(directory, 0o777)
})
after(() => rm(directory, { recursive: true }))

describe('acting as an owner', { skip: onlyAsRoot }, () => {
  for (const owner of [SPARE, NAMELESS]) {
    test(`[TGT-14] is with the rights of user ${owner.uid}, and then with our own again`, async () => {
      const own = rights()
      const path = join(directory, `of-${owner.uid}`)
      const result = await actAs(owner, async () => {
        assert.deepEqual(rights(), {
          uid: 0,
          euid: owner.uid,
          egid: owner.gid,
          groups: [owner.gid],
        })
        await assert.rejects(readFile('/etc/shadow'), { code: 'EACCES' })
        await writeFile(path, '')
        return 'done'
      })
      assert.equal(result, 'done')
      assert.deepEqual(rights(), own)
      const { uid, gid } = await stat(path)
      assert.deepEqual({ uid, gid }, owner)
      await readFile('/etc/shadow')
    })
  }

  test('[TGT-14] every thread that reads files has laid its rights aside', async () => {
    await actAs(SPARE, async () => {
      const reads = Array.from({ length: 32 }, () => readFile('/etc/shadow'))
      const results = await Promise.allSettled(reads)
      assert.ok(results.every(({ status }) => status === 'rejected'))
    })
    const reads = Array.from({ length: 32 }, () => readFile('/etc/shadow'))
    await Promise.all(reads)
  })

  test('[TGT-14] comes back from work that throws, at once or later', async () => {
    const own = rights()
    const failures: (() => Promise<never>)[] = [
      () => Promise.reject(new Error('later')),
      () => {
        throw new Error('at once')
      },
    ]
    for (const work of failures) {
      await assert.rejects(actAs(SPARE, work), /later|at once/)
      assert.deepEqual(rights(), own)
    }
  })

  test('[TGT-14] two at a time wait for each other', async () => {
    const seen: (number | undefined)[] = []
    const look = async () => {
      seen.push(process.geteuid?.())
      await stat(directory)
      seen.push(process.geteuid?.())
    }
    await Promise.all([actAs(SPARE, look), actAs(NAMELESS, look), actAs(SPARE, look)])
    assert.deepEqual(seen, [65534, 65534, 54_321, 54_321, 65534, 65534])
    assert.equal(process.geteuid?.(), 0)
  })

  test('[TGT-14] what the owner may do to a process of its own, it may not do to this one', async () => {
    await actAs(SPARE, () => {
      // Were it dumpable, the owner could trace it, and so be root.
      assert.throws(() => readFileSync('/proc/self/environ'), { code: 'EACCES' })
      return Promise.resolve()
    })
  })
})

test('[TGT-14] acting as root, or without its rights, is acting as oneself', async () => {
  const own = rights()
  const seen = await actAs({ uid: isRoot ? 0 : 12_345, gid: 12_345 }, () =>
    Promise.resolve(rights()),
  )
  assert.deepEqual(seen, own)
})

describe('whose a directory is', WITH_OWN_PLACE, () => {
  let home: string
  before(async () => {
    home = await makeOwnDirectory('svc-agent-act-as-')
  })
  after(() => rm(home, { recursive: true }))

  test('[TGT-14] is known when nobody else could put another in its place', async () => {
    const { uid, gid } = await stat(home)
    assert.deepEqual(await findOwnerOf(home), { ok: true, owner: { uid, gid } })
  })

  test('[TGT-14] is refused when anyone could', async () => {
    const path = join(home, 'open', 'data')
    await mkdir(path, { recursive: true })
    await chmod(join(home, 'open'), 0o1777)
    assert.deepEqual(await findOwnerOf(path), {
      ok: false,
      reason: `the directory ${join(home, 'open')} is writable by group or others`,
    })
    await symlink(path, join(home, 'link'))
    const link = join(home, 'link')
    assert.deepEqual(await findOwnerOf(link), { ok: false, reason: `${link} is a symbolic link` })
    const gone = join(home, 'gone')
    assert.deepEqual(await findOwnerOf(gone), { ok: false, reason: `${gone} does not exist` })
  })

  test(
    '[TGT-14] is refused when one user has it, and another the directory around it',
    {
      skip: onlyAsRoot,
    },
    async () => {
      const around = join(home, 'of-another')
      const path = join(around, 'data')
      await mkdir(path, { recursive: true })
      await chown(around, SPARE.uid, SPARE.gid)
      const reason = `the directory ${around} belongs to user 65534`
      for (const uid of [0, NAMELESS.uid]) {
        await chown(path, uid, uid)
        assert.deepEqual(await findOwnerOf(path), { ok: false, reason })
      }
      await chown(path, SPARE.uid, SPARE.gid)
      assert.deepEqual(await findOwnerOf(path), { ok: true, owner: SPARE })
    },
  )
})
