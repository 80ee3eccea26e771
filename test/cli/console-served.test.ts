// `svc console` from its first line to its end, beside a hub and without one.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { placeBuiltConsole } from '../support/built-console.ts'
import { startDevCa } from '../support/dev-ca.ts'
import type { TestHub } from '../support/hub.ts'
import { type Ended, runProgram } from '../support/processes.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { startTestHub } from '../support/test-hub.ts'

describe('svc console', () => {
  const stack = new AsyncDisposableStack()
  let hub: TestHub
  before(async () => {
    await placeBuiltConsole()
    const ca = stack.use(await startDevCa())
    hub = stack.use(await startTestHub({ caEnvironment: ca.environment }))
  })
  after(() => stack.disposeAsync())

  const svc = (...args: string[]): Promise<Ended> =>
    runSvcHere(args, {
      ...hub.environment,
      SVC_RECIPIENTS_FILE: join(hub.directory, 'recipients.json'),
    })

  test('[LOC-1] [LOC-4] goes through the admin socket, and prints a link of loopback', async () => {
    const { status, stdout, stderr } = await svc('console')
    assert.equal(status, 0, stderr)
    assert.match(
      stdout,
      /^the console of .*admin\.sock, until Ctrl-C: http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#code=svcl_[\w-]{43}\n$/,
    )
  })

  test('[LOC-1] says of a port that it is taken, and of one that is none', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    try {
      const taken = await svc('console', '--port', String(port))
      assert.match(taken.stderr, /another program has port/)
    } finally {
      holder.close()
    }
    assert.match((await svc('console', '--port', '70000')).stderr, /from 0 to 65535/)
  })

  const isRoot = process.getuid?.() === 0
  test('[LOC-1] does not serve as root beside the vault', { skip: !isRoot }, async () => {
    const { status, stderr } = await runProgram('svc', ['console'], hub.environment)
    assert.equal(status, 1)
    assert.match(stderr, /not as root/)
  })

  test('[LOC-1] needs a hub that runs', async () => {
    await hub.stop()
    const { status, stderr } = await svc('console')
    assert.equal(status, 1)
    assert.match(stderr, /needs a running hub/)
  })
})
