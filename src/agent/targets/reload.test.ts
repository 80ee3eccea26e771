import assert from 'node:assert/strict'
import { chmod, lchown, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeOwnDirectory, WITH_OWN_PLACE } from '../../../test/support/own-place.ts'
import { type ReloadOptions, runReload } from './reload.ts'

const uid = process.getuid?.() ?? -1
const SPARE_UID = 65534
const onlyAsRoot = uid === 0 ? false : 'only root can give files to others'
const applier = { uid, home: '/home/of-applier' }

let directory = ''
before(async () => {
  if (WITH_OWN_PLACE.skip === false) directory = await makeOwnDirectory('svc-agent-reload-')
})
after(() => rm(directory, { recursive: true, force: true }))

describe('the command of a target', WITH_OWN_PLACE, () => {
  test('[TGT-13] gets its arguments as they are, a clean environment, and no shell', async () => {
    process.env['SVC_ENROLL_TOKEN'] = 'svct_secret'
    const out = join(directory, 'out')
    const script = 'printf "%s|" "$@" > "$0"; env | sort >> "$0"; pwd >> "$0"'
    const argv = ['/bin/sh', '-c', script, out, 'a b', '$(id)', ';', '*', '']
    const result = await runReload(argv, { applier })
    assert.deepEqual([result.failure, result.exitCode], [undefined, 0])
    const [environment = '', rest] = (await readFile(out, 'utf8')).split('PATH=')
    assert.ok(environment.startsWith('a b|$(id)|;|*||HOME=/home/of-applier\nLANG=C.UTF-8\n'))
    assert.ok(rest?.startsWith('/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n'))
    assert.ok(!`${environment}${rest}`.includes('svct_'))
    assert.ok(rest?.endsWith('/\n'))
    delete process.env['SVC_ENROLL_TOKEN']
  })

  test('[TGT-13] is found by its name in the usual places', async () => {
    assert.equal((await runReload(['true'], { applier })).failure, undefined)
    assert.equal((await runReload(['false'], { applier })).failure, 'exit status 1')
  })

  test('[TGT-13] that takes too long is killed', async () => {
    const result = await runReload(['sleep', '600'], { applier, timeoutMs: 200 })
    assert.equal(result.failure, 'killed after 0.2 s')
  })

  test('[TGT-13] keeps what it wrote, for the log', async () => {
    const argv = ['/bin/sh', '-c', 'echo nginx: bad >&2; exit 3']
    const result = await runReload(argv, { applier })
    assert.deepEqual(
      [result.failure, result.exitCode, result.output],
      ['exit status 3', 3, 'nginx: bad\n'],
    )
  })

  test('[TGT-13] that is not there, or is a relative path, is told', async () => {
    const failureOf = async (program: string) => (await runReload([program], { applier })).failure
    assert.equal(await failureOf('no-such-program'), 'cannot be run: no-such-program was not found')
    assert.equal(await failureOf('/no/such'), 'cannot be run: /no/such was not found')
    const relative = 'cannot be run: ./x is neither an absolute path nor a plain name'
    assert.equal(await failureOf('./x'), relative)
    assert.equal(await failureOf('/etc'), 'cannot be run: /etc is not an executable file')
    assert.equal(
      await failureOf('/etc/passwd'),
      'cannot be run: /etc/passwd is not an executable file',
    )
    assert.equal(await failureOf(''), 'cannot be run: /usr/local/sbin is not an executable file')
  })
})

describe('a command that others could have changed', WITH_OWN_PLACE, () => {
  let ran: string
  let count = 0
  /** A program in a directory of its own. */
  async function createProgram(): Promise<{ place: string; path: string }> {
    count += 1
    const place = join(directory, String(count))
    const path = join(place, 'program')
    ran = join(directory, `ran-${count}`)
    await mkdir(place, { mode: 0o755 })
    await writeFile(path, `#!/bin/sh\ntouch ${ran}\n`)
    await chmod(path, 0o755)
    return { place, path }
  }

  async function assertRefused(argv: string[], reason: string, options?: Partial<ReloadOptions>) {
    const result = await runReload(argv, { applier, ...options })
    assert.equal(result.failure, `cannot be run: ${reason}`)
    await assert.rejects(readFile(ran), { code: 'ENOENT' })
  }

  test('[TGT-13] is run when nobody could', async () => {
    const { path } = await createProgram()
    assert.equal((await runReload([path], { applier })).failure, undefined)
    await readFile(ran)
  })

  test('[TGT-13] is refused when it, or its directory, is writable by group or others', async () => {
    const { place, path } = await createProgram()
    await chmod(path, 0o775)
    await assertRefused([path], `${path} is writable by group or others`)
    await chmod(path, 0o755)
    await chmod(place, 0o1777)
    await assertRefused([path], `${place} is writable by group or others`)
    await chmod(place, 0o755)
  })

  test('[TGT-13] is refused when a link on the way leads through such a directory', async () => {
    const { place, path } = await createProgram()
    const open = join(directory, 'open')
    await mkdir(open)
    await chmod(open, 0o777)
    await symlink(path, join(open, 'step'))
    const link = join(place, 'link')
    await symlink('../open/step', link)
    await assertRefused([link], `${open} is writable by group or others`)
  })

  test('[TGT-13] is refused when it leads round and round', async () => {
    const { place } = await createProgram()
    const link = join(place, 'round')
    await symlink('round', link)
    await assertRefused([link], `${link} leads through too many symbolic links`)
  })

  test('[TGT-13] is passed over where it was planted, for the next of its name', async () => {
    const planted = await createProgram()
    await chmod(planted.place, 0o777)
    const searchPath = `${planted.place}:/usr/bin`
    const reason = `${planted.place} is writable by group or others`
    await assertRefused(['program'], reason, { searchPath })
    await symlink('/bin/false', join(planted.place, 'true'))
    assert.equal((await runReload(['true'], { applier, searchPath })).failure, undefined)
  })

  test(
    '[TGT-13] is refused to root when it, its directory or a link is of another user',
    {
      skip: onlyAsRoot,
    },
    async () => {
      const { place, path } = await createProgram()
      const link = join(place, 'link')
      await symlink('program', link)
      for (const [argument, subject] of [
        [path, path],
        [path, place],
        [link, link],
      ] as const) {
        await lchown(subject, SPARE_UID, SPARE_UID)
        await assertRefused([argument], `${subject} belongs to user ${SPARE_UID}`)
        await lchown(subject, 0, 0)
      }
    },
  )
})
