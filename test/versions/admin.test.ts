// The CLI of one version beside a hub of another, through its admin socket.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connectToHub } from '../../src/admin/doors/socket-client.ts'
import { ADMIN_OPERATION_NAMES, ADMIN_OPERATIONS } from '../../src/protocol/admin/operations.ts'
import { createDelivery } from '../support/deliveries.ts'
import { startDevCaProcess } from '../support/dev-ca-process.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import type { HubProcess } from '../support/hub-process.ts'
import { runProgram } from '../support/processes.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { isBefore, OURS, startHubOf } from './pairings.ts'
import { ensureReleasedVersions, type ReleasedVersion } from './released-versions.ts'

const HOST = 'web-01'
const LOOKS: readonly (readonly string[])[] = [
  ['token', 'list'],
  ['agente', 'list'],
  ['agente', 'show', HOST],
  ['carga', 'list'],
  ['entrega', 'list'],
  ['evento', 'list'],
]

/** Those of later versions, which begin with an operation that earlier hubs do not have. */
const LATER = [
  {
    since: '0.2.0',
    args: ['carga', 'create', '--tipo', 'selado', '--nome', 'x', '--agente', HOST, '--file'],
  },
  { since: '0.4.0', args: ['politica', 'set'] },
]

for (const released of await ensureReleasedVersions()) {
  const { version, skip, programs } = released
  describe(`versions ${version} and this one`, { skip }, () => {
    let ca: RunningCa
    before(async () => {
      ca = await startDevCaProcess()
    })
    after(() => ca[Symbol.asyncDispose]())

    test(`[VER-8] svc ${version} beside this hub lists, changes and verifies`, async () => {
      await using hub = await startHubOf(ca, OURS)
      await useCli(hub, programs)
    })

    test(`[VER-8] this svc beside a hub ${version} lists, changes and verifies, and says what cannot be`, async () => {
      await using hub = await startHubOf(ca, programs)
      await useCli(hub, OURS)
      await refuseNewOperations(hub, released)
    })
  })
}

async function useCli(hub: HubProcess, programs: string): Promise<void> {
  const svc = async (...args: string[]): Promise<string> => {
    const ended = await runProgram(join(programs, 'svc'), args, hub.environment)
    assert.deepEqual([ended.status, ended.stderr], [0, ''], `svc ${args.join(' ')}`)
    return ended.stdout
  }
  const { agentId } = await enrollHost(hub, HOST)
  const { cargaId, id } = await createDelivery(hub, HOST, 'site')
  for (const args of LOOKS) {
    const shown = await svc(...args)
    assert.match(shown, new RegExp(`${HOST}|site|${agentId}`), args.join(' '))
    assert.doesNotMatch(shown, /undefined|NaN|\[object/, args.join(' '))
  }
  await svc('token', 'create', '--hostname', 'web-02', '--role', 'web')
  await svc('carga', 'create', '--tipo', 'csr_cert', '--nome', 'second', '--agente', HOST)
  await svc('carga', 'update', cargaId)
  await svc('carga', 'remove', cargaId)
  assert.match(await svc('agente', 'show', HOST), new RegExp(id.slice(0, 8)))
  await svc('agente', 'revoke', HOST)
  assert.equal((JSON.parse(await svc('evento', 'list', '--verify', '--json')) as Ok).ok, true)
}

interface Ok {
  readonly ok: boolean
}

/** Up to 0.4.0 they had a table of their own. */
async function readOperations(directory: string): Promise<object> {
  const early = join(directory, 'src/protocol/admin-routes.ts')
  const module = existsSync(early) ? early : join(directory, 'src/protocol/admin/operations.ts')
  const read = (await import(module)) as { ADMIN_ROUTES?: object; ADMIN_OPERATIONS?: object }
  return read.ADMIN_ROUTES ?? read.ADMIN_OPERATIONS ?? assert.fail(`no operations in ${module}`)
}

/** Each operation that the CLI has and the hub has not is a message that says so, and no stack. */
async function refuseNewOperations(
  hub: HubProcess,
  { version, directory }: ReleasedVersion,
): Promise<void> {
  const theirs = await readOperations(directory)
  const session = await connectToHub(join(hub.vaultRoot, 'admin.sock'))
  assert.ok(session)
  for (const name of ADMIN_OPERATION_NAMES) {
    if (name in theirs) continue
    const { path } = ADMIN_OPERATIONS[name]
    const operation = session.operations[name] as (request: object) => Promise<unknown>
    await assert.rejects(operation({ agente: HOST }), {
      name: 'UserError',
      code: 'route_not_found',
      message: `this hub has no operation ${path}`,
    })
  }
  const file = join(hub.directory, 'file')
  await writeFile(file, 'content')
  const environment = { ...hub.environment, SVC_RECIPIENTS_FILE: join(hub.directory, 'recipients') }
  if (!('showFeatures' in theirs)) {
    const args = ['token', 'create', '--hostname', 'web-03', '--role', 'web', '--dry-run']
    const refused = await runProgram('svc', args, environment)
    assert.match(refused.stderr, /^svc: error: this hub is older than this svc: it would carry/)
    const { tokens } = await session.operations.listTokens({})
    assert.ok(tokens.every(({ hostname }) => hostname !== 'web-03'))
  }
  if (!('showExamination' in theirs)) {
    const { stdout } = await runProgram('svc', ['doctor'], environment)
    assert.match(stdout, /^warning {6}hub {10}the hub (\(\S+\) )?is older than this svc/m)
    assert.match(stdout, /^ok {11}ca {11}\S+ answers: it has the provisioner /m)
  }
  for (const { since, args } of LATER) {
    if (!isBefore(version, since)) continue
    const refused = await runProgram('svc', [...args, file], environment)
    assert.equal(refused.status, 1)
    assert.match(
      refused.stderr,
      /^svc: error: this hub has no operation \/v1\/admin\/\S+\n(?:svc: hint: [^\n]+\n)*$/,
    )
  }
}
