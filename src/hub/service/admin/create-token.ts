import { randomBytes } from 'node:crypto'
import { formatDurationMs } from '../../../platform/durations.ts'
import { AdminRefusal, type Write } from '../admin-act.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { GIVEN_LABELS_MAX, toLabelRecord } from '../../../protocol/labels.ts'
import { parseHostname } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { EnrollmentToken } from '../../domain/enrollment-token.ts'
import { countGiven } from '../../domain/label-change.ts'
import type { HostRules } from '../../domain/host-rules.ts'
import { TOKEN_TTL_SECONDS_MAX } from '../../domain/role-rules.ts'
import { coversName } from '../../domain/subject-alt-name.ts'
import type { StoreReader } from '../../store/store.ts'
import { toAdminToken } from '../admin-views.ts'
import type { AdminContext } from './admin-context.ts'
import { agentCommand, type AgentCommandContext } from './agent-command.ts'
import { findRulesOf, hostOfToken } from '../find-rules.ts'
import { parseGivenLabels, tooManyLabels } from '../labels/parse-labels.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { refuseReenrollment } from '../refuse-operator.ts'

const TOKEN_BYTES = 32

/** The plaintext is in the answer and nowhere else. */
export const createToken: Write<
  'createToken',
  Pick<AdminContext, 'clock' | 'hubNames'> & AgentCommandContext
> = async (writer, request, context) => {
  const { clock, hubNames, role: by } = context
  const hostname = parseHostname(request.hostname)
  if (hostname === undefined) {
    throw new AdminRefusal('hostname_invalid', `${request.hostname} is not a lower-case host name`)
  }
  if (hubNames.some((name) => coversName(name, hostname))) {
    throw new AdminRefusal('hostname_reserved', `${hostname} is a name of the hub itself`)
  }
  const labels = parseGivenLabels(request.labels)
  const plaintext = `svct_${randomBytes(TOKEN_BYTES).toString('base64url')}`
  const now = clock.now()
  const enrolled = await writer.findAgentByHostname(hostname)
  const named = { expectedHostname: hostname, expectedRole: request.role, labels }
  const host = await hostOfToken(writer, named, enrolled)
  const rules = await findRulesOf(writer, host)
  const created: EnrollmentToken = {
    hash: hashToken(plaintext),
    ...named,
    createdAt: now,
    expiresAt: new Date(now.getTime() + chooseTtlSeconds(request, rules) * 1000),
    consumedAt: null,
    isReenrollment: request.reenroll ?? false,
    isOperators: by !== 'admin',
    mismatches: 0,
    joinRuleId: null,
    endedAt: null,
    replay: null,
  }
  if (created.isReenrollment) {
    await refuseReenrollment(writer, { enrolled, host }, by)
  } else await refuseTakenHostname(writer, hostname, now)
  await refuseTooManyLabels(writer, created)
  await writer.insertToken(created)
  const act = {
    token_id: created.hash.slice(0, 16),
    hostname,
    role: created.expectedRole,
    ...(labels.size > 0 && { labels: toLabelRecord(labels) }),
    expires_at: created.expiresAt.toISOString(),
    reenroll: created.isReenrollment,
  }
  return {
    acts: [{ type: HubEventType.tokenCreated, payload: act }],
    reply: {
      ...toAdminToken(created),
      token: plaintext,
      ...(await agentCommand(writer, context, { hostname, role: request.role, token: plaintext })),
    },
  }
}

/** A host that enrols again keeps the labels that it has. */
async function refuseTooManyLabels(
  reader: StoreReader,
  { expectedHostname: hostname, labels }: EnrollmentToken,
): Promise<void> {
  const agent = await reader.findAgentByHostname(hostname)
  if (agent === undefined || labels.size === 0) return
  const before = (await reader.listLabels([agent.id])).get(agent.id) ?? new Map<string, string>()
  const count = countGiven(new Map([...before, ...labels]))
  if (count > GIVEN_LABELS_MAX) throw tooManyLabels(hostname, count)
}

function chooseTtlSeconds(
  { hostname, role, ttl_seconds: wanted }: AdminRequest<'createToken'>,
  { policyName, tokenTtlPolicy, tokenTtlSecondsMax, tokenTtlSecondsDefault }: HostRules,
): number {
  if (wanted === undefined) return tokenTtlSecondsDefault
  if (wanted <= tokenTtlSecondsMax) return wanted
  const most = `lives ${formatDurationMs(tokenTtlSecondsMax * 1000)} at most`
  if (tokenTtlSecondsMax === TOKEN_TTL_SECONDS_MAX) {
    throw new AdminRefusal('ttl_too_long', `a token ${most}`)
  }
  const whose = tokenTtlPolicy === policyName ? `role ${role}` : hostname
  throw new AdminRefusal('ttl_too_long', `a token for ${whose} ${most}: policy ${tokenTtlPolicy}`)
}

async function refuseTakenHostname(
  reader: StoreReader,
  hostname: string,
  now: Date,
): Promise<void> {
  if ((await reader.findAgentByHostname(hostname)) !== undefined) {
    throw new AdminRefusal('hostname_enrolled', `${hostname} is enrolled already`)
  }
  const [open] = await reader.findOpenTokens(hostname, now)
  if (open !== undefined) {
    throw new AdminRefusal('hostname_has_token', `an open token names ${hostname} already`, {
      token_id: open.hash.slice(0, 16),
    })
  }
}
