// What goes wrong with a real nginx: it ends with the old set in place, whole and served, and is told once.

import assert from 'node:assert/strict'
import { appendFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { errnoCode } from '../../src/platform/errors.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import { skipUnlessRunnable } from './support/required-programs.ts'
import {
  assertAppliesAfterOneEvent,
  assertOldSet,
  readSet,
  serveFirst,
  waitForReverted,
} from './support/served-set.ts'
import { AGENT_USER, ServiceHost } from './support/service-host.ts'
import { useServicesHub } from './support/use-services-hub.ts'

const PAGE = Buffer.alloc(4096)
const RECURSIVE = { recursive: true } as const

describe('what fails', { skip: skipUnlessRunnable(['nginx', 'mount', 'openssl']) }, () => {
  const services = useServicesHub()

  test('[TGT-16] a reload that fails: nginx refuses a configuration that somebody broke', async () => {
    await using host = await ServiceHost.create(services(), 'fails-reload', AGENT_USER)
    const nginx = await serveFirst(host)
    const before = await readSet(host, nginx, await host.newestSerial())
    const config = await readFile(nginx.configPath, 'utf8')
    await appendFile(nginx.configPath, 'nonsense;\n')
    const entrega = await host.renew()
    await host.waitForPair(entrega)
    const { status, stdout } = await host.apply()
    assert.equal(status, 1)
    assert.match(stdout, /: reverted, reload: exit status 1\n/)
    assert.equal((await waitForReverted(host, entrega)).payload['step'], 'reload')
    const shown = await waitUntil('the delivery to show it', async () => {
      const delivery = await host.delivery(entrega)
      return delivery?.erro === null ? undefined : delivery
    })
    assert.equal(shown.status, 'instalada')
    assert.match(
      shown.erro ?? '',
      /^alvo_revertido reload: exit status 1\n.* \[emerg\] .*unknown directive "nonsense"/,
    )
    // The same again is not told again.
    assert.equal((await host.apply({ now: true })).status, 1)
    await writeFile(nginx.configPath, config)
    await assertOldSet(host, nginx, before)
    await assertAppliesAfterOneEvent(host, nginx, entrega)
  })

  test('[TGT-12] [TGT-16] a probe that still sees the old serial: nginx is told nothing', async () => {
    await using host = await ServiceHost.create(services(), 'fails-probe', AGENT_USER)
    const nginx = await serveFirst(host)
    await host.writeTarget({ ...nginx.target, reload: ['true'] })
    assert.equal((await host.apply()).status, 0, 'the same pair, and so served')
    const before = await readSet(host, nginx, await host.newestSerial())
    const entrega = await host.renew()
    await host.waitForPair(entrega)
    const { status, stdout, stderr } = await host.apply()
    assert.equal(status, 1)
    assert.match(stdout, /: reverted, probe: /, stderr)
    const { payload } = await waitForReverted(host, entrega)
    assert.equal(payload['step'], 'probe')
    const newest = await host.newestSerial()
    assert.equal(
      payload['reason'],
      `127.0.0.1:${nginx.port} serves serial ${before.serial}, not ${newest}`,
    )
    await assertOldSet(host, nginx, before)
    await host.writeTarget(nginx.target)
    await assertAppliesAfterOneEvent(host, nginx, entrega)
  })

  test('[TGT-16] [TGT-22] a disk that is full, or takes nothing any more, is told once each', async (context) => {
    await using host = await ServiceHost.create(services(), 'fails-disk', AGENT_USER)
    const directory = host.path('etc/nginx/tls')
    await mkdir(directory, { recursive: true })
    if (!(await mountSmallDisk(context, directory))) return
    host.resources.defer(async () => {
      await runTool('umount', ['--lazy', directory])
    })
    const nginx = await serveFirst(host)
    const filler = join(directory, 'filler')
    const fillers = join(directory, 'fillers')
    const reverted = /: reverted, stage: .*ENOSPC/
    const obstacles = [
      { put: () => fillUp(filler, 0), take: () => rm(filler), says: reverted },
      // Room for the first of the files, but not for all.
      { put: () => fillUp(filler, 2), take: () => rm(filler), says: reverted },
      { put: () => takeAllNames(fillers), take: () => rm(fillers, RECURSIVE), says: reverted },
      // Not even what is staged could be removed; there is nothing, but that cannot be known.
      {
        put: () => remount(directory, 'ro'),
        take: () => remount(directory, 'rw'),
        says: /: stuck, /,
      },
    ] as const
    for (const { put, take, says } of obstacles) {
      const before = await readSet(host, nginx, await host.newestSerial())
      await put()
      const entrega = await host.renew()
      await host.waitForPair(entrega)
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const { status, stdout } = await host.apply({ now: true })
        assert.equal(status, 1)
        assert.match(stdout, says)
      }
      assert.equal((await waitForReverted(host, entrega)).payload['step'], 'stage')
      await take()
      await assertOldSet(host, nginx, before)
      await assertAppliesAfterOneEvent(host, nginx, entrega)
    }
  })
})

/** A file that takes all the room there is but for some pages. */
async function fillUp(path: string, pagesLeft: number): Promise<void> {
  for (let pages = 0; ; pages += 1) {
    try {
      await appendFile(path, PAGE)
    } catch (error) {
      if (errnoCode(error) !== 'ENOSPC') throw error
      await truncate(path, Math.max(0, pages - pagesLeft) * PAGE.length)
      return
    }
  }
}

/** Empty files, as many as the disk has names for. */
async function takeAllNames(directory: string): Promise<void> {
  await mkdir(directory)
  for (let number = 0; ; number += 1) {
    try {
      await writeFile(join(directory, String(number)), '')
    } catch (error) {
      if (errnoCode(error) === 'ENOSPC') return
      throw error
    }
  }
}

/** Not every root may mount; CI's has to. */
async function mountSmallDisk(context: TestContext, directory: string): Promise<boolean> {
  const options = 'size=64k,nr_inodes=32,mode=0755'
  try {
    await runTool('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory])
    return true
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    context.skip(String(error))
    return false
  }
}

async function remount(directory: string, mode: 'ro' | 'rw'): Promise<void> {
  await runTool('mount', ['-o', `remount,${mode}`, directory])
}
