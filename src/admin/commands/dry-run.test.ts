import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, describe, test } from 'node:test'
import type { Command } from 'commander'
import { UserError } from '../../platform/errors.ts'
import {
  ADMIN_OPERATIONS,
  type AdminNamesOf,
  type AdminOperationName,
  operationsBy,
} from '../../protocol/admin/operations.ts'
import type { AdminSession } from '../doors/admin-session.ts'
import { connectToHub } from '../doors/socket-client.ts'
import type { AdminSealed } from '../../protocol/admin/cargas.ts'
import { generateAgeIdentity, recipientOf } from '../../sealing/age-identity.ts'
import { NO_PINS } from '../../sealing/recipients/recipient-pins.ts'
import { Output } from '../terminal/output.ts'
import { REACHING_CONTEXT } from '../../../test/support/reaching-context.ts'
import type { CommandContext } from './command-context.ts'
import { buildProgram, runCommandLine } from './program.ts'

/** Files that `svc bundle sign` reads. */
const DIRECTORY = mkdtempSync(join(tmpdir(), 'dry-run-'))
const SIGNED = join(DIRECTORY, 'set.txt')
const FLEET = join(DIRECTORY, 'fleet.toml')
writeFileSync(FLEET, '[[policy]]\nrole = "web"\n')
for (const path of [SIGNED, `${SIGNED}.minisig`]) writeFileSync(path, 'signed')
after(() => rmSync(DIRECTORY, { recursive: true }))

const ID = '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22'
const ANSWER = {
  dry_run: true,
  acts: [{ tipo: 'token_revoked', payload: { hostname: 'web-1\u001b[2J' }, entrega_id: null }],
  agentes: 1,
}

/** Only pages register a passkey; `svc logout` ends what was nobody's but its own. */
type Commanded = Exclude<AdminNamesOf<'changes' | 'creates'>, 'registerPasskey' | 'revokeOwnToken'>

/** One command for each operation that changes something. */
const COMMANDS: { readonly [Name in Commanded]: string } = {
  archiveEntries: 'evento archive --before 90d',
  createToken: 'token create --hostname web-9 --role web',
  revokeToken: 'token revoke web-9',
  labelAgents: 'agente label web-1 env=prod',
  createJoinRule: 'join-rule create web --pattern web-*.example.org --role web --max-hosts 40',
  endJoinRule: 'join-rule end web',
  revokeAgent: 'agente revoke web-1',
  removeAgent: 'agente remove web-1',
  pushToAgent: 'agente push web-1 --nome motd --file motd',
  createCargo: 'carga create --tipo csr_cert --nome site --agente web-1',
  updateCargo: `carga update ${ID}`,
  removeCargo: `carga remove ${ID}`,
  startRollout: `carga update ${ID} --waves 1,100%`,
  startRotation: 'agente rotate --all --waves 1,100%',
  startUpdate: 'agente update 0.5.0 --all --waves 1,100%',
  pauseRollout: `rollout pause ${ID}`,
  resumeRollout: `rollout resume ${ID}`,
  undoRollout: `rollout undo ${ID}`,
  setFreeze: 'freeze --until 1h --why incident',
  endFreeze: 'freeze end',
  selectCargo: `carga select ${ID} --where env=prod`,
  pruneCargo: `carga select ${ID} --prune`,
  cancelDelivery: `entrega cancel ${ID}`,
  retryDeliveries: 'entrega retry --all',
  setPolicy: 'politica set web --token-ttl-max 1h',
  removePolicy: 'politica remove web',
  setSelectorPolicy: 'politica set --nome prod --where env=prod --cert-ttl 1h',
  removeSelectorPolicy: 'politica remove --nome prod',
  updateBundle: 'bundle update',
  signBundle: `bundle sign ${SIGNED}`,
  keepCosigned: `checkpoint --cosigned ${SIGNED} --witness-key w`,
  createWebhook: 'webhook create --url https://receiver.example/in',
  testWebhook: `webhook test ${ID}`,
  replayWebhook: `webhook replay ${ID} --dead`,
  removeWebhook: `webhook remove ${ID}`,
  applyFleet: `apply -f ${FLEET}`,
  createAccessToken: 'admin token create --name ci --role viewer',
  revokeAccessToken: 'admin token revoke ci',
  endSession: 'admin session end 3e8f5d7c9a0b1246',
  removePasskeys: 'admin passkey remove ci',
  createSignInLink: 'console link --name ci',
  removeHub: 'hubs remove hub-2',
}

type Perform = (name: AdminOperationName, request: object) => Promise<unknown>

/** What it writes when its session is that one. */
async function run(
  line: string,
  session: AdminSession,
  openPins: CommandContext['openPins'] = notAsked,
): Promise<string> {
  let written = ''
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      written += String(chunk)
      done()
    },
  })
  const context: CommandContext = {
    ...REACHING_CONTEXT,
    output: new Output(stdout),
    openSecret: async (name) => ({
      name,
      size: undefined,
      mode: undefined,
      read: async () => Buffer.from('hello'),
      stream: () => assert.fail('nothing but evidence reads it so'),
      close: async () => undefined,
    }),
    openPins,
    withAdmin: (work) => work(session),
  }
  await runCommandLine(line.split(' '), context)
  return written
}

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked for'))

function sessionOf(perform: Perform): AdminSession {
  const operations = operationsBy(perform)
  return { operations, isThroughHub: true, openBackup: notAsked, close: () => Promise.resolve() }
}

describe('svc --dry-run', () => {
  for (const [name, line] of Object.entries(COMMANDS)) {
    test(`[CLI-48] [CLI-49] svc ${line} asks for a rehearsal, of a hub that knows what that is`, async () => {
      const asked: unknown[] = []
      const session = sessionOf(async (operation, request) => {
        asked.push(operation, 'dry_run' in request && request.dry_run)
        return operation === 'showFeatures' ? { features: ['dry_run'] } : ANSWER
      })
      assert.equal(
        await run(`${line} --dry-run`, session),
        'EVENT_TYPE     DELIVERY_ID  PAYLOAD\n' +
          'token_revoked  -            {"hostname":"web-1\\u001b[2J"}\n' +
          '1 agent would be told; nothing was done\n',
      )
      assert.deepEqual(asked, ['showFeatures', false, name, true])
      assert.deepEqual(JSON.parse(await run(`${line} --dry-run --json`, session)), ANSWER)
    })
  }

  test('[CLI-48] says so when the audit log would say nothing', async () => {
    const session = sessionOf(async (operation) =>
      operation === 'showFeatures'
        ? { features: ['dry_run'] }
        : { dry_run: true, acts: [], agentes: 0 },
    )
    assert.equal(
      await run('token revoke web-9 --dry-run', session),
      'the audit log would say nothing\n0 agents would be told; nothing was done\n',
    )
  })

  test('[CLI-48] seals a file, which the hub checks, and remembers no recipient', async () => {
    const recipient = await recipientOf(await generateAgeIdentity())
    const wanted = [{ id: ID, hostname: 'web-1', role: 'web', recipient }]
    const sealed: string[] = []
    const session = sessionOf(async (operation, request) => {
      if (operation === 'showFeatures') return { features: ['dry_run'] }
      if (operation === 'listRecipients') {
        return { agentes: wanted, escrow: [], content_bytes_max: 1024 }
      }
      const { selado, dry_run } = request as { selado: AdminSealed; dry_run: boolean }
      sealed.push(`${dry_run} ${Buffer.from(selado.conteudo, 'base64').subarray(0, 21).toString()}`)
      return ANSWER
    })
    const done: string[] = []
    const pins = {
      known: NO_PINS,
      path: 'recipients.json',
      add: async () => void done.push('remembered'),
      close: () => void done.push('closed'),
    }
    const line = `carga create --tipo selado --nome db --file db --agente web-1 --recipient ${recipient}`
    assert.match(await run(`${line} --dry-run`, session, async () => pins), /nothing was done\n$/)
    assert.deepEqual([sealed, done], [['true age-encryption.org/v1'], ['closed']])
  })

  test('[CLI-48] is an option of every command but those that look', () => {
    const program = buildProgram({} as CommandContext, () => undefined)
    const without = leavesOf(program)
      .filter(({ options }) => !options.some(({ long }) => long === '--dry-run'))
      .map((leaf) => `${leaf.parent?.name()} ${leaf.name()}`)
    assert.deepEqual(without.sort(), [
      'agent list',
      'agent revocations',
      'agent show',
      'backup verify',
      'bundle prepare',
      'bundle prepare-key',
      'bundle status',
      'certificate list',
      'delivery list',
      'delivery show',
      'event export',
      'event list',
      'event proof',
      'event segments',
      'event verify',
      'fleet owners',
      'freeze show',
      'hubs list',
      'join-rule list',
      'join-rule show',
      'load list',
      'load show',
      'passkey list',
      'policy list',
      'policy selectors',
      'policy show',
      'recovery list',
      'rollout list',
      'rollout show',
      'session list',
      'standby init',
      'standby promote',
      'standby status',
      'svc completion',
      'svc doctor',
      'svc evidence',
      'svc export',
      'svc init',
      'svc join',
      'svc login',
      'svc logout',
      'svc plan',
      'svc restore',
      'svc search',
      'svc status',
      'svc unseal',
      'svc whoami',
      'token list',
      'token list',
      'vault compact',
      'vault migrate',
      'webhook list',
      'webhook show',
    ])
  })

  test('[CLI-49] [API-28] [VER-8] asks an older hub, which would do it, for nothing', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'svc-dry-run-'))
    const requests: string[] = []
    const server = createServer(({ method, url }, response) => {
      requests.push(`${method} ${url}`)
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: 'route_not_found', message: 'no such route' }))
    })
    try {
      await once(server.listen(join(directory, 'admin.sock')), 'listening')
      const session = await connectToHub(join(directory, 'admin.sock'))
      assert.ok(session)
      await assert.rejects(run('agente revoke web-1 --dry-run', session), {
        name: 'UserError',
        code: 'hub_too_old',
        message:
          'this hub is older than this svc: it would carry the command out instead of rehearsing it',
        hint: 'upgrade the hub; nothing was done',
      })
      assert.deepEqual(requests, ['GET /v1/admin/features'])
    } finally {
      server.close()
      await rm(directory, { recursive: true })
    }
  })

  test('[CLI-49] refuses a hub that knows other features, and tells other failures as they are', async () => {
    const asked: string[] = []
    const other = sessionOf(async (name) => {
      asked.push(name)
      return { features: ['another'] }
    })
    await assert.rejects(run('token revoke web-9 --dry-run', other), { code: 'hub_too_old' })
    const refusing = sessionOf(async (name) => {
      asked.push(name)
      throw new UserError('admin_token_invalid', 'no')
    })
    await assert.rejects(run('token revoke web-9 --dry-run', refusing), {
      code: 'admin_token_invalid',
    })
    assert.deepEqual(asked, ['showFeatures', 'showFeatures'])
  })
})

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

test('[CLI-48] each of these changes something', () => {
  const changes = Object.entries(ADMIN_OPERATIONS).filter(([, { does }]) => does !== 'reads')
  const commanded = [...Object.keys(COMMANDS), 'registerPasskey', 'revokeOwnToken']
  assert.deepEqual(changes.map(([name]) => name).sort(), commanded.sort())
})
