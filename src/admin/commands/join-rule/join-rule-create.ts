import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import {
  JOIN_HOSTS_MAX,
  JOIN_TTL_MAX_SECONDS,
  JOIN_TTL_MIN_SECONDS,
  SILENT_MAX_SECONDS,
  SILENT_MIN_SECONDS,
} from '../../../protocol/admin/join-rules.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { collect } from '../collect.ts'
import { collectLabel } from '../hosts/label-option.ts'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { readFrom } from '../read-from.ts'
import type { SecretSource } from '../../sealed/secret-source.ts'
import { parseTtlSeconds } from '../parse-ttl.ts'
import { describeJoinRule } from './describe-join-rule.ts'

interface JoinRuleCreateOptions {
  readonly pattern: string
  readonly role: string
  readonly maxHosts: string
  readonly label: Readonly<Record<string, string>>
  readonly issuer?: string
  readonly audience?: string
  readonly claim: readonly string[]
  readonly hostnameClaim?: string
  readonly jwks?: string
  readonly jwksUrl?: string
  readonly ttl?: string
  readonly revokeAfter?: string
  readonly json?: true
}

const TTL = {
  minSeconds: JOIN_TTL_MIN_SECONDS,
  minText: '1h',
  maxSeconds: JOIN_TTL_MAX_SECONDS,
  maxText: '90d',
  hint: 'leave it out for 7d; svc join-rule list shows when the next rule is due',
}
const REVOKE_AFTER = {
  option: '--revoke-after',
  minSeconds: SILENT_MIN_SECONDS,
  minText: '1h',
  maxSeconds: SILENT_MAX_SECONDS,
  maxText: '365d',
  hint: 'leave it out, and the hub revokes no host for its silence',
}

export function registerJoinRuleCreate(joinRule: Command, context: CommandContext): void {
  joinRule
    .command('create')
    .description('let hosts of a pattern of names enrol by themselves')
    .argument('<name>', 'how the audit log and the other commands name the rule')
    .requiredOption(
      '--pattern <pattern>',
      'the names of the hosts: * stands for letters, digits and - within one label',
    )
    .requiredOption('--role <role>', 'the role that they enrol with')
    .requiredOption('--max-hosts <count>', `how many may join, at most ${JOIN_HOSTS_MAX}`)
    .option(
      '--label <key=value>',
      'a label that each of the hosts gets when it enrols; repeatable',
      collectLabel,
      {},
    )
    .option('--issuer <url>', 'they show a token of this issuer, in place of one that svc prints')
    .option('--audience <text>', 'with --issuer: for whom the token has to be')
    .option(
      '--claim <claim=value>',
      'with --issuer: what the token has to say; repeatable',
      collect,
      [],
    )
    .option('--hostname-claim <claim>', 'with --issuer: what has to be the name of the host')
    .option('--jwks <file>', 'with --issuer: its keys, when the hub cannot ask it')
    .option('--jwks-url <url>', 'with --issuer: where its keys are, when it does not say')
    .option('--ttl <duration>', 'how long it works, 1h to 90d; 7d unless the policy says less')
    .option('--revoke-after <duration>', 'revoke a host that joined and was silent for so long')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Without --issuer svc prints a token that works many times, for images and groups that grow by themselves: each host uses it once, under its own name. It never enrols a host
again, and never one whose name is taken. Anybody with the token can enrol hosts that match the pattern until the rule is full,
expired or ended: svc join-rule list shows how many joined, and the log names each. A host keeps its identity when the rule ends.

With --revoke-after the hub revokes a host when it heard nothing of the host for that long and heard other hosts all the while.
A pattern has at most two *, and ends in a domain without one. Quote it, or the shell may replace it.

With --issuer a host shows the token of its platform, a JWT: of GitHub Actions, GitLab, a Kubernetes service account or a cloud. Each
token lets one host in. It has to be signed by a key that the issuer publishes, for the --audience, and to say each --claim: a claim
is a name, or a JSON pointer such as /kubernetes.io/namespace; several values of one claim are any of them, and a value that ends in *
is whatever begins with the rest. At least one claim is needed: everybody can get a token of a public issuer. With --hostname-claim
the claim has to be the hostname or its first label. On the host, SVC_ENROLL_TOKEN_FILE names the file of the token.

svc prints a token only this time; the vault keeps only its SHA-256. With an admin token of role operator a rule lives 7d at
most; a policy's --token-ttl-max for the role holds for rules too.

Examples:
  svc join-rule create web-images --pattern 'web-*.example.org' --role web --max-hosts 40
  svc join-rule create spot --pattern '*.spot.example.org' --role worker --max-hosts 500 --label env=prod --revoke-after 48h
  svc join-rule create runners --issuer https://token.actions.githubusercontent.com --audience cartorio --claim repository=acme/infra --pattern 'ci-*.example.org' --role ci --max-hosts 50
  svc join-rule create nodes --issuer https://kubernetes.default.svc --jwks jwks.json --audience cartorio --claim /kubernetes.io/namespace=edge --pattern '*.edge.example.org' --role edge --max-hosts 20
  svc join-rule create ci --pattern 'ci-*-eu.example.org' --role ci --max-hosts 8 --ttl 1d --json
`,
    )
    .action((name: string, options: JoinRuleCreateOptions) => create(context, name, options))
}

async function create(
  context: CommandContext,
  name: string,
  options: JoinRuleCreateOptions,
): Promise<void> {
  const { pattern, role, maxHosts, label: labels, ttl, revokeAfter, json } = options
  const request = {
    name,
    ...(await readMethod(context, options)),
    pattern,
    role,
    hosts_max: parseHostsMax(maxHosts),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(ttl !== undefined && { ttl_seconds: parseTtlSeconds(ttl, TTL) }),
    ...(revokeAfter !== undefined && {
      silent_seconds: parseTtlSeconds(revokeAfter, REVOKE_AFTER),
    }),
  } as const
  const created = await context.withAdmin(({ operations }) => operations.createJoinRule(request))
  if (json) return context.output.writeJson(created)
  const { token, agent_command, note, ...rule } = created
  const fields = renderFields(context.output.language, {
    ...(token !== undefined && { token }),
    ...describeJoinRule(rule),
  })
  const advice = note === undefined ? '' : `\nNote: ${note}\n`
  await context.output.write(`${fields}\nOn each host:\n\n${agent_command}\n${advice}`)
}

type Method = Pick<AdminRequest<'createJoinRule'>, 'method' | 'jwt'>

async function readMethod(
  context: CommandContext,
  { issuer, audience, claim, hostnameClaim, jwks, jwksUrl }: JoinRuleCreateOptions,
): Promise<Method> {
  if (issuer === undefined) {
    const others = [audience, hostnameClaim, jwks, jwksUrl, ...claim]
    if (others.every((each) => each === undefined)) return { method: 'token' }
    throw new UserError('usage', 'what a token has to say goes with --issuer')
  }
  if (audience === undefined || claim.length === 0) {
    throw new UserError('usage', '--issuer needs --audience and at least one --claim', {
      hint: 'everybody can get a token of a public issuer: say which are yours',
    })
  }
  const keys = await readFrom(context, jwks, readKeys)
  return {
    method: 'jwt',
    jwt: {
      issuer,
      audience,
      claims: collectClaims(claim),
      ...(hostnameClaim !== undefined && { hostname_claim: hostnameClaim }),
      ...(jwksUrl !== undefined && { jwks_url: jwksUrl }),
      ...(keys !== undefined && { jwks: keys }),
    },
  }
}

/** Several values of one claim are any of them. */
function collectClaims(texts: readonly string[]): { claim: string; values: string[] }[] {
  const claims = new Map<string, string[]>()
  for (const text of texts) {
    const at = text.indexOf('=')
    if (at < 1 || at === text.length - 1) {
      throw new UserError('claim_invalid', `--claim: ${text} is not claim=value`)
    }
    const [name, value] = [text.slice(0, at), text.slice(at + 1)]
    claims.set(name, [...(claims.get(name) ?? []), value])
  }
  return [...claims].map(([name, values]) => ({ claim: name, values }))
}

const JWKS_BYTES_MAX = 65_536

async function readKeys(source: SecretSource): Promise<string> {
  const content = await source.read(JWKS_BYTES_MAX)
  if (content !== undefined) return content.toString('utf8')
  throw new UserError(
    'jwks_invalid',
    `--jwks: ${source.name} has more than ${JWKS_BYTES_MAX} bytes`,
  )
}

function parseHostsMax(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= JOIN_HOSTS_MAX) return count
  throw new UserError(
    'max_hosts_invalid',
    `--max-hosts: ${text} is not a number from 1 to ${JOIN_HOSTS_MAX}`,
    { hint: 'make several rules for more hosts' },
  )
}
