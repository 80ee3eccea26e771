// Faults of a real machine that svc doctor finds: a disk that is full, one that never answers, limits, another clock, a hub and a CA that
// stand still. docs/protocol.md DOC.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createFakedClock, findFaketimeLibrary } from '../../reliability/support/faked-clock.ts'
import { mountSmallDisk } from '../../reliability/support/faults/small-disk.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { type Ended, runProgram, runTool, type Variables, waitUntil } from '../support/processes.ts'
import { useHubProcess } from '../support/use-hub.ts'

interface Check {
  readonly id: string
  readonly status: string
  readonly findings: readonly { readonly message: string }[]
}

const MIB = 1024 * 1024
const AS_ROOT = { skip: process.getuid?.() === 0 ? false : 'needs root, for mounts and limits' }
/** The command promises ten; what kills it is far beyond. */
const TIMEOUT_MS = 60_000

const { hub } = useHubProcess(undefined, { SVC_SERVER_CN: 'localhost' })

async function examine(
  of: Pick<HubProcess, 'environment'> = hub,
  changes: Variables = {},
): Promise<{ readonly ended: Ended; checkOf(id: string): string }> {
  const environment = { ...of.environment, ...changes }
  const ended = await runProgram('svc', ['doctor', '--json'], environment, TIMEOUT_MS)
  const { checks } = JSON.parse(ended.stdout) as { checks: readonly Check[] }
  return {
    ended,
    checkOf: (id) => {
      const { status, findings } = checks.find((check) => check.id === id) ?? {}
      return `${status}: ${findings?.map(({ message }) => message).join('; ')}`
    },
  }
}

const prlimit = (...limits: string[]): Promise<string> =>
  runTool('prlimit', ['--pid', String(hub.pid), ...limits])

describe('[DOC-1] svc doctor finds', () => {
  test('[DOC-15] limits of the hub that runs', AS_ROOT, async () => {
    const before = await readFile(`/proc/${hub.pid}/limits`, 'utf8')
    const [, files = ''] = /^Max open files\s+(\d+)/m.exec(before) ?? []
    await prlimit('--nofile=2000:')
    const found = await examine()
    assert.match(
      found.checkOf('limits'),
      /^warning: the hub may have 2000 files open, and SVC_LIMIT_CONNECTIONS lets 16384/,
    )
    await prlimit(`--nofile=${files}:`)
    // Where nobody may raise it, a literal has to do.
    if (/^Max core file size\s+0\s+0\s/m.test(before)) return
    await prlimit('--core=1048576:')
    const dumping = await examine()
    assert.match(
      dumping.checkOf('core-dumps'),
      /^warning: a hub that crashes leaves a core dump of up to 1.0 MiB/,
    )
    await prlimit('--core=0:')
  })

  test('[DOC-3] [DOC-6] a hub that stands still, and what can be seen without it', async () => {
    process.kill(hub.pid, 'SIGSTOP')
    const found = await examine()
    process.kill(hub.pid, 'SIGCONT')
    assert.equal(found.ended.status, 2)
    assert.match(
      found.checkOf('hub'),
      /^error: the hub at \S+ does not answer as it should: .*in time/,
    )
    assert.match(found.checkOf('ca'), /^ok: .*and the hub has its key$/)
    assert.match(found.checkOf('certificate'), /^ok: /)
    assert.match(found.checkOf('log'), /^skipped: /)
  })

  test('[DOC-11] the clock of another machine', async (t) => {
    const library = await findFaketimeLibrary()
    if (library === undefined) return t.skip('needs faketime')
    await hub.stop()
    const clock = await createFakedClock(library, join(hub.directory, 'clock'))
    await clock.set(-45_000)
    const near = await examine(hub, clock.environment)
    assert.match(near.checkOf('clock'), /^warning: the hub’s clock is 4[0-9]s behind the CA’s$/)
    await clock.set(90_000)
    const ahead = await examine(hub, clock.environment)
    assert.match(
      ahead.checkOf('clock'),
      /^error: the hub’s clock is 1m (2[5-9]|3[0-5])s ahead of the CA’s$/,
    )
    await clock.set(-86_400_000)
    const far = await examine(hub, clock.environment)
    assert.match(
      far.checkOf('clock'),
      /^error: the CA’s certificate is not valid by the hub’s clock$/,
    )
    await hub.start()
  })

  test('[DOC-3] a CA that swallows what it is sent', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    await hub.stop()
    const found = await examine(hub, { SVC_CA_URL: `https://127.0.0.1:${port}` })
    for (const socket of sockets) socket.destroy()
    silent.close()
    await hub.start()
    assert.match(found.checkOf('ca'), /^error: https:\S+: .*timeout/i)
    assert.match(found.checkOf('certificate'), /^ok: /)
  })

  test('[DOC-10] a disk that is nearly full, and one that is', AS_ROOT, async () => {
    await hub.stop()
    await using disk = await mountSmallDisk(hub, 200 * MIB)
    await hub.start()
    await disk.fillUpTo(100 * MIB)
    assert.match(
      (await examine()).checkOf('disk'),
      /^error: only 100 MiB are free .*; \S+ is in memory/,
    )
    await disk.fillUpTo(20 * MIB)
    const full = await examine()
    assert.match(full.checkOf('disk'), /^error: 20.0 MiB are free .*below the floor of 64.0 MiB/)
    assert.match(full.checkOf('hub'), /^error: the hub is not ready: store: /)
    await disk.empty()
    assert.match((await examine()).checkOf('hub'), /^ok: /)
    await hub.stop()
  })

  test('[DOC-3] a file system that never answers', AS_ROOT, async (t) => {
    const root = join(hub.directory, 'dead')
    await mkdir(root)
    const dead = spawn('python3', ['-c', MOUNT_DEAD, root], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const isMounted = await Promise.race([
        once(dead.stdout, 'data').then(() => true),
        once(dead, 'exit').then(() => false),
      ])
      if (!isMounted) return t.skip('needs /dev/fuse')
      const found = await examine(hub, { SVC_VAULT_ROOT: root })
      assert.match(
        found.checkOf('disk'),
        /^unknown: not known: the file system of \S+ does not answer/,
      )
      assert.match(
        found.checkOf('vault'),
        /^unknown: not known: the file system of \S+ does not answer/,
      )
      assert.match(found.checkOf('ca'), /^ok: /)
    } finally {
      dead.kill('SIGKILL')
      await waitUntil('the end of the mount', async () => {
        const { status } = await umount(root)
        return status === 0 || undefined
      })
    }
  })
})

/** A FUSE whose daemon answers nothing: whoever looks at it waits for ever. */
const MOUNT_DEAD = `
import ctypes, os, sys, time
fd = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={fd},rootmode=40000,user_id=0,group_id=0'.encode()
if ctypes.CDLL(None).mount(b'dead', sys.argv[1].encode(), b'fuse', 0, options) != 0: sys.exit(1)
print('mounted', flush=True)
time.sleep(120)
`

async function umount(path: string): Promise<{ status: number }> {
  return runTool('umount', ['-l', path]).then(
    () => ({ status: 0 }),
    () => ({ status: 1 }),
  )
}
