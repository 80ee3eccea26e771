// The command tree of svc-agent. Each command is loaded when it is asked for, so that `--version` is quick.

import { Command } from 'commander'
import { addCompletionCommand } from '../completion/completion.ts'
import { UserError } from '../platform/errors.ts'
import { redactTokens } from '../platform/redact-tokens.ts'
import { withSettingsOf } from '../platform/settings-file.ts'
import { readVersion } from '../platform/version.ts'
import type { Environment } from './commands/context.ts'
import { AGENT_SETTINGS, describeVariables } from './settings/agent-variables.ts'

const EXAMPLES = `
Examples:
  export SVC_SERVER_URL=https://hub.example:8446
  SVC_AGENT_ROLE=web SVC_ENROLL_TOKEN_FILE=/run/token svc-agent enroll
  svc-agent identity
  export SVC_SERVER_MTLS_URL=https://hub.example:8443
  svc-agent run

${describeVariables()}
`

const ENROLL_EXAMPLES = `
Examples:
  SVC_SERVER_URL=https://hub.example:8446 SVC_AGENT_ROLE=web \\
      SVC_ENROLL_TOKEN_FILE=/run/token svc-agent enroll
  svc-agent enroll --ca-fingerprint 5f1e…    # trust no other root than this one
  sudo svc-agent enroll --ssh-host-key /etc/ssh/ssh_host_ed25519_key
  sudo svc-agent enroll --host-certificate /etc/ssl/host.pem --host-key /etc/ssl/private/host.key
  svc-agent enroll --tpm                     # by a join rule for TPMs; svc-agent tpm prints what its list has of this host

When the reply is lost, run the same command again: it repeats the same request.
`

const TARGETS_EXAMPLES = `
Examples:
  $ cat /etc/svc-agent/targets.d/site.toml
  name = "site"
  reload = ["systemctl", "reload", "nginx"]
  probe = "127.0.0.1:443"
  [[file]]
  path = "/etc/nginx/tls/site.pem"
  content = ["cert", "chain", "key"]
  $ svc-agent targets check
  $ svc-agent targets apply
`

const ADOPT_EXAMPLES = `
Without an option it changes nothing: it shows the certificates that nginx, Apache, HAProxy, PostgreSQL and Caddy read here, who
renews them (certbot, acme.sh, step, cron), the targets that would take them over, and the loads that the hub needs for that.

--apply waits until a load is delivered, puts its target in place, and stops the old renewer only when the service serves the
new certificate; else everything is put back. --undo puts everything back, byte for byte. Either may be interrupted: the
same command goes on.

Examples:
  svc-agent adopt
  svc-agent adopt --apply nginx
  svc-agent adopt --apply --yes --wait 1h
  svc-agent adopt --undo www.example.org-nginx
`

const AUDIT_EXAMPLES = `
The agent keeps the newest checkpoint of the hub's audit log, and has the hub prove once an hour that the log has only grown. When
the log is shorter, or another one, somebody changed it: the agent keeps both checkpoints as evidence, says so, and goes on working.
It also keeps the receipts of the events that it sent: svc event verify --receipts finds out whether the log still has them.

Examples:
  svc-agent audit
  svc-agent audit --json
  svc-agent audit --reset    # only when you know why the log is another one
`

const SELF_UPDATE_EXAMPLES = `
Examples:
  svc-agent self-update --url https://releases.example/svc-agent/latest/linux-arm64
  svc-agent self-update --url 'https://releases.example/svc-agent/latest/{arch}'    # on hosts of either architecture
  svc-agent self-update --url https://releases.example/svc-agent/0.1.0/linux-x64 --allow-downgrade

With --announced, which svc-agent-announced.service runs, the version is the one that the hub announced and the agent left as its request
(svc agent update). It has to be signed, exactly that version, and newer than this one; it is fetched from SVC_AGENT_UPDATE_URL.

The old executable stays beside the new one, as <binary>.old. Under the shipped units the watcher restores
the old one within a minute, when the new version does not get as far as the old one did.
`

interface JsonOption {
  json?: boolean
}

interface AdoptFlags extends JsonOption {
  apply?: boolean
  undo?: boolean
  yes?: boolean
  wait: string
}

interface SelfUpdateFlags extends JsonOption {
  url?: string
  announced?: boolean
  binary?: string
  allowDowngrade?: boolean
}

/** `given`: the environment, without the settings of a file. */
export function buildProgram(given: Environment): Command {
  const env = (): Environment =>
    withSettingsOf(given, AGENT_SETTINGS, program.opts<{ config?: string }>().config)
  const program = new Command('svc-agent')
    .description('Enrols this host, renews its certificates, and installs what the hub delivers.')
    .version(readVersion(), '--version', 'print the version')
    .option('--config <file>', `settings, in place of ${AGENT_SETTINGS.path}`)
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureOutput({ outputError: (text, write) => write(redactTokens(`svc-agent: ${text}`)) })
    .addHelpText('after', EXAMPLES)

  program
    .command('enroll')
    .description(
      'turn a one-time token, a key that the host has already, or its TPM, into an identity',
    )
    .option('--allow-http', 'allow a plain http SVC_SERVER_URL')
    .option(
      '--ca-fingerprint <sha256>',
      'trust the hub by this root alone (SHA-256 of its DER); more than once while one root replaces another',
      (fingerprint: string, before: readonly string[]) => [...before, fingerprint],
      [],
    )
    .option('--host-certificate <file>', 'in place of a token: a certificate of another PKI, PEM')
    .option('--host-key <file>', 'with --host-certificate: its private key, PEM')
    .option('--ssh-host-key <file>', 'in place of a token: the SSH host key, private')
    .option('--tpm', 'show the TPM 2.0 of this host in place of a token; needs tpm2-tools')
    .option('--replace', 'set an existing identity aside, once the new one is in place')
    .option('--json', 'print the new identity as JSON')
    .addHelpText('after', ENROLL_EXAMPLES)
    .action(
      async (
        options: JsonOption & {
          allowHttp?: boolean
          caFingerprint: readonly string[]
          replace?: boolean
          hostCertificate?: string
          hostKey?: string
          sshHostKey?: string
          tpm?: boolean
        },
      ) => {
        const { runEnroll } = await import('./commands/enroll.ts')
        await runEnroll(withHostKey(env(), options), {
          settings: {
            path: program.opts<{ config?: string }>().config ?? AGENT_SETTINGS.path,
            given,
          },
          allowHttp: options.allowHttp === true,
          caFingerprints: options.caFingerprint,
          replace: options.replace === true,
          json: options.json === true,
        })
      },
    )

  program
    .command('identity')
    .description('print the identity; no network')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc-agent identity --json')
    .action(async ({ json }: JsonOption) => {
      const { runIdentity } = await import('./commands/identity.ts')
      await runIdentity(env(), { json: json === true })
    })

  program
    .command('tpm')
    .description(
      'print the TPM of this host as a line for svc join-rule create --tpm-keys; no network',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc-agent tpm >> racks.txt')
    .action(async ({ json }: JsonOption) => {
      const { runTpm } = await import('./commands/tpm.ts')
      await runTpm(env(), { json: json === true })
    })

  program
    .command('run')
    .description('renew, poll, install and run hooks, until a signal ends it')
    .option('--once', 'do one round; exit 0 when all of it succeeded, else 1')
    .addHelpText('after', '\nExamples:\n  $ svc-agent run\n  $ svc-agent run --once')
    .action(async ({ once }: { once?: boolean }) => {
      const { runOnce, runRun } = await import('./commands/run.ts')
      await (once === true ? runOnce(env()) : runRun(env()))
    })

  program
    .command('rotate')
    .description('renew the identity now; through the running agent, if one runs')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc-agent rotate')
    .action(async ({ json }: JsonOption) => {
      const { runRotate } = await import('./commands/rotate.ts')
      await runRotate(env(), { json: json === true })
    })

  program
    .command('poll')
    .description('do a round now; through the running agent, if one runs')
    .addHelpText('after', '\nExample:\n  $ svc-agent poll')
    .action(async () => {
      const { runPoll } = await import('./commands/run.ts')
      await runPoll(env())
    })

  program
    .command('status')
    .description('show identity, deliveries and waiting events')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc-agent status --json')
    .action(async ({ json }: JsonOption) => {
      const { runStatus } = await import('./commands/status.ts')
      await runStatus(env(), { json: json === true })
    })

  program
    .command('audit')
    .description(
      'say whether the hub’s audit log is what this host has seen of it; exit 2 when it is not',
    )
    .option(
      '--reset',
      'set what this host holds aside, and meet the log of the hub as for the first time',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', AUDIT_EXAMPLES)
    .action(async ({ json, reset }: JsonOption & { reset?: boolean }) => {
      const { runAudit } = await import('./commands/audit.ts')
      await runAudit(env(), { json: json === true, reset: reset === true })
    })

  program
    .command('check')
    .description('exit 0: renewal due, 1: not yet, 2: no identity, 255: error')
    // A mistake in the arguments must not read as `not yet`.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 255))
    .addHelpText('after', '\nExample:\n  $ svc-agent check && svc-agent rotate')
    .action(async () => {
      const { runCheck } = await import('./commands/identity.ts')
      await runCheck(env)
    })

  const targets = program
    .command('targets')
    .description('put delivered certificates and files in the places that targets.d names')
    .helpCommand(false)
    .addHelpText('after', TARGETS_EXAMPLES)

  targets
    .command('check')
    .description('say what each target does, and name its faults; exit 1 when there are any')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc-agent targets check')
    .action(async ({ json }: JsonOption) => {
      const { runTargetsCheck } = await import('./commands/targets-check.ts')
      await runTargetsCheck(env(), { json: json === true })
    })

  targets
    .command('apply')
    .description('put the files of each target in place, reload and probe; exit 1 when one fails')
    .option('--now', 'try failed targets again now, before their time')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ svc-agent targets apply\n  $ svc-agent targets apply --now',
    )
    .action(async ({ json, now }: JsonOption & { now?: boolean }) => {
      const { runTargetsApply } = await import('./commands/targets-apply.ts')
      await runTargetsApply(env(), { json: json === true, now: now === true })
    })

  program
    .command('adopt')
    .description('move the certificates that services of this host read to targets')
    .argument('[what...]', 'adoptions, loads, services or files; none: all of them')
    .option('--apply', 'take them over')
    .option('--undo', 'put back what was taken over')
    .option('--yes', 'ask nothing')
    .option('--wait <duration>', 'how long to wait for deliveries', '15m')
    .option('--json', 'print JSON')
    .addHelpText('after', ADOPT_EXAMPLES)
    .action(async (what: string[], { apply, undo, yes, wait, json }: AdoptFlags) => {
      const { runAdopt } = await import('./commands/adopt.ts')
      await runAdopt(env(), {
        what,
        apply: apply === true,
        undo: undo === true,
        yes: yes === true,
        wait,
        json: json === true,
      })
    })

  program
    .command('self-update')
    .description('replace the agent’s executable by a newer, signed release')
    .option(
      '--url <url>',
      'the URL that has svc-agent and svc-agent.minisig; {arch} stands for linux-x64 or linux-arm64',
    )
    .option('--announced', 'the version that the agent asks for, from SVC_AGENT_UPDATE_URL')
    .option('--binary <path>', 'the executable to replace (default: the running one)')
    .option('--allow-downgrade', 'install an older or the same version too')
    .option('--json', 'print JSON')
    .addHelpText('after', SELF_UPDATE_EXAMPLES)
    .action(async (options: SelfUpdateFlags) => {
      const { url, binary, announced } = options
      const allowDowngrade = options.allowDowngrade === true
      const json = options.json === true
      if ((url === undefined) === (announced !== true) || (announced === true && allowDowngrade)) {
        throw new UserError(
          'usage',
          'self-update takes --url, or --announced without --allow-downgrade',
        )
      }
      const { runAnnouncedUpdate, runSelfUpdate } = await import('./commands/self-update.ts')
      if (url === undefined) return runAnnouncedUpdate(env(), { binary, json })
      await runSelfUpdate(env(), { url, binary, allowDowngrade, json })
    })

  addCompletionCommand(program)
  return program
}

/** What is typed counts in place of what is set, also in place of a token. */
function withHostKey(
  env: Environment,
  {
    hostCertificate,
    hostKey,
    sshHostKey,
    tpm,
  }: { hostCertificate?: string; hostKey?: string; sshHostKey?: string; tpm?: boolean },
): Environment {
  const typed = [hostCertificate, hostKey, sshHostKey, tpm]
  if (typed.every((each) => each === undefined)) return env
  const ways = { SVC_ENROLL_TOKEN: undefined, SVC_ENROLL_TOKEN_FILE: undefined }
  return {
    ...env,
    ...ways,
    SVC_ENROLL_HOST_CERTIFICATE: hostCertificate,
    SVC_ENROLL_HOST_KEY: hostKey,
    SVC_ENROLL_SSH_HOST_KEY: sshHostKey,
    SVC_ENROLL_TPM: tpm === true ? '1' : undefined,
  }
}
