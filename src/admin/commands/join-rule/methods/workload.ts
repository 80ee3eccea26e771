import { UserError } from '../../../../platform/errors.ts'
import { collect } from '../../collect.ts'
import { readFrom } from '../../read-from.ts'
import type { JoinMethod } from './join-method.ts'
import { readText } from './read-text.ts'

export interface WorkloadOptions {
  readonly issuer?: string
  readonly audience?: string
  readonly claim: readonly string[]
  readonly hostnameClaim?: string
  readonly jwks?: string
  readonly jwksUrl?: string
}

/** Method jwt: the token of the host's platform. */
export const workloadMethod: JoinMethod<WorkloadOptions> = {
  addOptions: (command) =>
    command
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
      .option('--jwks-url <url>', 'with --issuer: where its keys are, when it does not say'),
  read: async (context, { issuer, audience, claim, hostnameClaim, jwks, jwksUrl }) => {
    if (issuer === undefined) {
      const others = [audience, hostnameClaim, jwks, jwksUrl, ...claim]
      if (others.every((each) => each === undefined)) return undefined
      throw new UserError('usage', 'what a token has to say goes with --issuer')
    }
    if (audience === undefined || claim.length === 0) {
      throw new UserError('usage', '--issuer needs --audience and at least one --claim', {
        hint: 'everybody can get a token of a public issuer: say which are yours',
      })
    }
    const keys = await readFrom(context, jwks, readText('--jwks', 'jwks_invalid', JWKS_BYTES_MAX))
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
  },
  describe: ({ jwt }) => {
    if (!jwt) return {}
    const claims = jwt.claims.map(({ claim, values }) => `${claim}=${values.join('|')}`)
    return {
      issuer: jwt.issuer,
      audience: jwt.audience,
      claims: claims.join(', '),
      ...(jwt.hostname_claim !== null && { hostname_claim: jwt.hostname_claim }),
      ...(jwt.jwks_url !== null && { jwks_url: jwt.jwks_url }),
    }
  },
  help: `With --issuer a host shows the token of its platform, a JWT: of GitHub Actions, GitLab, a Kubernetes service account or a cloud. Each
token lets one host in. It has to be signed by a key that the issuer publishes, for the --audience, and to say each --claim: a claim
is a name, or a JSON pointer such as /kubernetes.io/namespace; several values of one claim are any of them, and a value that ends in *
is whatever begins with the rest. At least one claim is needed: everybody can get a token of a public issuer. With --hostname-claim
the claim has to be the hostname or its first label. On the host, SVC_ENROLL_TOKEN_FILE names the file of the token.`,
  examples: [
    `svc join-rule create runners --issuer https://token.actions.githubusercontent.com --audience cartorio --claim repository=acme/infra --pattern 'ci-*.example.org' --role ci --max-hosts 50`,
    `svc join-rule create nodes --issuer https://kubernetes.default.svc --jwks jwks.json --audience cartorio --claim /kubernetes.io/namespace=edge --pattern '*.edge.example.org' --role edge --max-hosts 20`,
  ],
}

const JWKS_BYTES_MAX = 65_536

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
