// The CA and the clock. docs/protocol.md DOC-11, DOC-12.

import type { AuthorityFacts } from '../protocol/admin/examination.ts'
import { quoteForShell } from '../platform/quote-for-shell.ts'
import { fault, type Finding, ok, showAbout, skipped, warning, type Advice } from './finding.ts'

/** A CA takes a token that begins a minute later by its clock, and one that ended five minutes ago by the hub's. */
const AHEAD_SECONDS_MAX = 60
const BEHIND_SECONDS_MAX = 300
const WARNING_SECONDS = 30

const NO_CERTIFICATES =
  'without the CA no host enrols or renews, and certificates end one after the other'

const REFUSED = 'the CA refuses the hub’s tokens: nothing is enrolled or renewed'
const CLOCKS = ['date --utc', 'timedatectl status']

type Fault = NonNullable<AuthorityFacts['fault']>

/** `settings` is the file in which they are, for who edits it. */
export function judgeAuthority(facts: AuthorityFacts, settings: string): Finding[] {
  const { url, fault: what, reason } = facts
  if (what === null) return [ok(`${url} answers: ${reason}`)]
  return [fault(`${url}: ${reason}`, adviceOn(what, facts, settings))]
}

function adviceOn(what: Fault, { url, kind }: AuthorityFacts, settings: string): Advice {
  const get = (path: string): string =>
    `curl --silent --show-error --insecure --max-time 5 ${quoteForShell(`${url}${path}`)}`
  const edit = `editor ${quoteForShell(settings)}`
  const health = get(kind === 'openbao' ? '/v1/sys/health' : '/health')
  const wrongKind: Advice = {
    why: REFUSED,
    remedy: 'SVC_CA_PROVISIONER_KID has to be the key id of a JWK provisioner of this CA',
    commands: [get('/provisioners'), edit],
  }
  const advices: Readonly<Record<Fault, Advice>> = {
    unreachable: {
      why: NO_CERTIFICATES,
      remedy: 'start the CA, open the way to it, or correct SVC_CA_URL',
      commands: [health],
    },
    untrusted: {
      why: `the hub refuses a CA that it does not know: ${NO_CERTIFICATES}`,
      remedy:
        'see that SVC_CA_ROOT_CA_PATH names the root that this CA has now, and that SVC_CA_URL calls it by a name of its certificate',
      commands: [edit],
    },
    other_time: {
      why: `the hub refuses a CA whose certificate is not valid now: ${NO_CERTIFICATES}`,
      remedy:
        'compare the clocks of both machines; if they agree, the CA needs a new certificate of its own',
      commands: CLOCKS,
    },
    not_a_ca: {
      why: NO_CERTIFICATES,
      ...(kind === 'openbao'
        ? {
            remedy: 'unseal it, or correct SVC_CA_URL, which has to lead to an OpenBao or a Vault',
            commands: [health],
          }
        : {
            remedy:
              'SVC_CA_URL leads to something that is no step-ca, or to one that is in trouble',
            commands: [get('/provisioners')],
          }),
    },
    other_name: {
      why: 'the CA refuses the hub’s tokens, which name their provisioner',
      remedy: 'correct SVC_CA_PROVISIONER_NAME, or leave it out: the hub then asks the CA',
      commands: [edit],
    },
    no_provisioner: wrongKind,
    other_kind: wrongKind,
    other_key: {
      why: REFUSED,
      remedy:
        'the provisioner’s key was replaced, or SVC_CA_PROVISIONER_KEY_FILE holds another one: bring the key of this provisioner to the hub, and start it again',
      commands: [get('/provisioners')],
    },
  }
  return advices[what]
}

export function judgeClock(facts: AuthorityFacts): Finding[] {
  const { clock_ahead_seconds: ahead, fault: what } = facts
  if (what === 'other_time') {
    return [
      fault('the CA’s certificate is not valid by the hub’s clock', {
        why: `one of the clocks is far off, or the CA’s certificate has ended: ${NO_CERTIFICATES}`,
        remedy: 'set the clock that is wrong, and keep both by NTP',
        commands: CLOCKS,
      }),
    ]
  }
  if (ahead === null) {
    return [
      skipped(what === null ? 'the CA does not say what time it has' : 'the CA did not answer'),
    ]
  }
  const by = showAbout(Math.abs(ahead) * 1000)
  const message = `the hub’s clock is ${by} ${ahead < 0 ? 'behind' : 'ahead of'} the CA’s`
  const commands = CLOCKS
  const remedy = 'set the clock that is wrong, and keep both by NTP'
  if (facts.kind === 'openbao' && Math.abs(ahead) > WARNING_SECONDS) {
    const why = 'what the CA signs then begins late, or early, by the clock of the hub and of hosts'
    return [warning(message, { why, remedy, commands })]
  }
  if (ahead > AHEAD_SECONDS_MAX || -ahead > BEHIND_SECONDS_MAX) {
    const why = 'the CA refuses tokens from the future or the past: nothing is enrolled or renewed'
    return [fault(message, { why, remedy, commands })]
  }
  if (Math.abs(ahead) > WARNING_SECONDS) {
    const why = 'the CA refuses tokens from a minute ahead, or five minutes ago'
    return [warning(message, { why, remedy, commands })]
  }
  return [ok('hub and CA agree on the time')]
}
