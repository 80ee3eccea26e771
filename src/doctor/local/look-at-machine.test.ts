import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { parseHubSettings } from '../../hub/config.ts'
import { findLimit, parseLimit } from '../../hub/facts/read-process-limits.ts'
import { lookAtMachine, parseSwaps, parseUnit } from './look-at-machine.ts'
import { lookAtListeners, lookUpNames, parseListeners } from './look-at-network.ts'
import { runBounded } from './bounded-child.ts'

const UNIT = `LoadState=loaded
ActiveState=failed
Result=exit-code
NRestarts=4
LimitNOFILESoft=65536
LimitCORESoft=0
MemorySwapMax=infinity
`

const TCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20FB 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 1 1 0 100 0 0 10 0
   1: 0100007F:20FC 0100007F:9999 01 00000000:00000000 00:00000000 00000000   998        0 1 1 0 100 0 0 10 0
`
const TCP6 = `  sl  local_address                         remote_address                        st
   0: 00000000000000000000000000000000:20FA 00000000000000000000000000000000:0000 0A
`

describe('what svc doctor reads of the machine', () => {
  test('[DOC-15] the unit of the hub, as systemd has it', () => {
    assert.deepEqual(parseUnit(UNIT), {
      name: 'svc-server',
      activeState: 'failed',
      result: 'exit-code',
      restarts: 4,
      limits: { open_files_max: 65_536, core_bytes_max: 0, swap_bytes_max: 'unlimited' },
    })
    assert.equal(parseUnit('LoadState=not-found\nActiveState=inactive\n'), undefined)
  })

  test('[DOC-15] limits, of a process and of a control group', () => {
    const limits = `Limit                     Soft Limit           Hard Limit           Units
Max core file size        0                    unlimited            bytes
Max open files            20000                20000                files
`
    assert.equal(findLimit(limits, 'Max open files'), 20_000)
    assert.equal(findLimit(limits, 'Max core file size'), 0)
    assert.equal(findLimit('', 'Max core file size'), null)
    assert.deepEqual(['max', '0', '', undefined].map(parseLimit), ['unlimited', 0, null, null])
  })

  test('[DOC-15] swap', () => {
    const text = `Filename				Type		Size		Used		Priority
/dev/dm-1                               partition	1048572		0		-2
/var/swap\\040file                       file		2048		0		-3
`
    assert.deepEqual(parseSwaps(text), [
      { name: '/dev/dm-1', bytes: 1_073_737_728 },
      { name: '/var/swap file', bytes: 2_097_152 },
    ])
    assert.equal(typeof lookAtMachine().corePattern, 'string')
  })

  test('[DOC-19] listeners, and none of what is only connected', () => {
    assert.deepEqual(parseListeners(TCP), [{ host: '127.0.0.1', port: 8443 }])
    assert.deepEqual(parseListeners(TCP6), [{ host: '::', port: 8442 }])
  })

  test('[DOC-19] a port that is taken, and one that is free', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const taken = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const settings = parseHubSettings({
      SVC_CA_URL: 'https://ca.test',
      SVC_HEALTH_BIND: taken,
      SVC_ENROLL_BIND: '127.0.0.1:0',
      SVC_MTLS_BIND: '127.0.0.9:1',
      SVC_ENROLL_TLS_BIND: 'off',
      SVC_ADMIN_BIND: 'off',
    })
    const found = await lookAtListeners(settings)
    server.close()
    assert.deepEqual(
      found.map(({ variable, address, isListening }) => [variable, address, isListening]),
      [
        ['SVC_HEALTH_BIND', taken, true],
        ['SVC_MTLS_BIND', '127.0.0.9:1', false],
      ],
    )
  })

  test('[DOC-18] names, of which addresses and wildcards are not asked', async () => {
    const serverNames = ['localhost', 'nobody.invalid', '127.0.0.1', '*.example.org']
    assert.deepEqual(await lookUpNames({ serverNames, isNamed: true }), [
      { name: 'localhost', variable: 'SVC_SERVER_CN', fault: undefined },
      { name: 'nobody.invalid', variable: 'SVC_SERVER_SANS', fault: 'unknown name' },
    ])
    assert.deepEqual(await lookUpNames({ serverNames: ['svc-server.local'], isNamed: false }), [])
  })
})

describe('runBounded', () => {
  test('[DOC-3] leaves behind what does not end, and says what ended', async () => {
    assert.deepEqual(await runBounded('sleep', ['60'], 20), { status: undefined, stdout: '' })
    assert.deepEqual(await runBounded('echo', ['hello'], 20_000), { status: 0, stdout: 'hello\n' })
    assert.deepEqual(await runBounded('no-such-program', [], 20_000), {
      status: undefined,
      stdout: '',
    })
  })
})
