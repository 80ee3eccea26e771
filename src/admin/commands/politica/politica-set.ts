import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { flagOf } from '../../../protocol/spoken-words.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import { parseDecidingWhereOption, WHERE_FLAG } from '../hosts/where-option.ts'
import { NAME_FLAG } from './choose-policy.ts'
import { parseSecondsOption } from './duration-option.ts'
import { renderAffected, renderPolicy, renderSelectorPolicy } from './render-policy.ts'

interface PoliticaSetOptions {
  readonly nome?: string
  readonly where?: string
  /** These are false when their --no- is given. */
  readonly tokenTtlMax?: string | false
  readonly certTtl?: string | false
  readonly san: readonly string[]
  readonly sans: boolean
  readonly carga: readonly string[]
  readonly cargas: boolean
  /** Undefined when neither form is given. */
  readonly reenroll?: boolean
  readonly untested?: true
  readonly json?: true
}

export function registerPoliticaSet(politica: Command, context: CommandContext): void {
  politica
    .command('set')
    .description('make the policy of a role or of the hosts that match, or change it')
    .argument('[role]', "the role, or '*' for every role without a policy of its own")
    .option(WHERE_FLAG, 'the hosts that it narrows the policy of their role for, by their labels')
    .option(NAME_FLAG, 'its name in lists and logs (default: the role)')
    .option('--token-ttl-max <duration>', 'the longest that a token for the role may live')
    .option('--no-token-ttl-max', '7d, as without a policy')
    .option('--cert-ttl <duration>', 'how long its certificates live, at least 15m')
    .option('--no-cert-ttl', 'let the CA decide how long they live')
    .option('--untested', 'set --cert-ttl without a trial at the CA')
    .option(
      '--san <name>',
      "a name that its certificates may have, *.suffix, or '*' for any; repeatable",
      collect,
      [],
    )
    .option('--no-sans', 'permit no name but the host’s own')
    .option(
      `${flagOf('carga')} <id>`,
      'a load of type csr_cert that each agent gets when it enrols; repeatable',
      collect,
      [],
    )
    .option(flagOf('no-cargas'), 'nothing at enrolment')
    .option('--reenroll', 'admin tokens of role operator may enrol its hosts again')
    .option('--no-reenroll', 'only admin tokens of role admin may, as without a policy')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action((role: string | undefined, options: PoliticaSetOptions) =>
      role === undefined ? setSelectorPolicy(context, options) : setPolicy(context, role, options),
    )
}

const HELP = `
Without its option a setting stays as it is; --san and --load replace all earlier ones. The policy of a role applies as a
whole: the policy of '*' adds nothing to it. Existing tokens and certificates stay as they are. The command shows the names
that --san no longer permits; the hub does not renew their certificates. With an admin token of role operator, a caller
gives only names that --san lists ('*' lists all), and enrols no host again without --reenroll; role admin, and svc beside
the hub, always may. The CA may allow less than --cert-ttl. So the hub first has it sign one certificate of that life, for a
key that it throws away, and revokes it; when the CA refuses, svc prints why and the policy stays as it was. --dry-run asks
no CA.

With --where and --name in place of a role, the policy narrows the policy of the role for each host that matches: the
shortest lives count, a certificate may have a name only when all of these policies permit it, and --no-reenroll takes from
operators what the role's policy leaves to them. Such a policy widens nothing; only its loads come on top. Labels that
agents report (host.*) choose no policy.

Examples:
  svc policy set '*' --token-ttl-max 1h
  svc policy set web --token-ttl-max 30m --cert-ttl 8h --san '*.shop.example.org' --san 192.0.2.7
  svc policy set web --load "$(svc load create --type csr_cert --name node --unassigned --json | jq -r .carga_id)"
  svc policy set web --reenroll
  svc policy set --where 'env=prod' --name prod --cert-ttl 24h --san '*.prod.example.org'
  svc policy set --name prod --no-reenroll
  svc policy set web --no-cert-ttl --no-loads --json
`

async function setPolicy(
  context: CommandContext,
  role: string,
  options: PoliticaSetOptions,
): Promise<void> {
  if (options.where !== undefined) {
    throw new UserError('usage', 'a role and --where do not go together', {
      hint: "name the role in the selector: --where 'role=web,env=prod'",
    })
  }
  const { nome, reenroll } = options
  const request: AdminRequest<'setPolicy'> = {
    role,
    ...(nome !== undefined && { nome }),
    ...toBounds(options),
    ...(reenroll !== undefined && { reenroll }),
  }
  const set = await context.withAdmin(({ operations }) => operations.setPolicy(request))
  if (options.json) return context.output.writeJson(set)
  await context.output.write(
    `${renderPolicy(context.output.language, set)}${renderAffected(context.output.language, set.cargas_afetadas)}`,
  )
}

async function setSelectorPolicy(
  context: CommandContext,
  options: PoliticaSetOptions,
): Promise<void> {
  const { nome, where, reenroll } = options
  if (nome === undefined) {
    const message =
      where === undefined
        ? 'name a role, or give --where and --name'
        : 'with --where a policy needs a --name'
    throw new UserError('usage', message, { hint: 'lists and logs name it by that' })
  }
  const request: AdminRequest<'setSelectorPolicy'> = {
    nome,
    ...(where !== undefined && { where: parseDecidingWhereOption(where) }),
    ...toBounds(options),
    ...(reenroll !== undefined && { reenroll }),
  }
  const set = await context.withAdmin(({ operations }) => operations.setSelectorPolicy(request))
  if (options.json) return context.output.writeJson(set)
  const { language } = context.output
  const affected = renderAffected(language, set.cargas_afetadas)
  await context.output.write(`${renderSelectorPolicy(language, set)}${affected}`)
}

type Bounds = Omit<AdminRequest<'setPolicy'>, 'role' | 'nome' | 'reenroll' | 'etag'>

function toBounds(options: PoliticaSetOptions): Bounds {
  const { tokenTtlMax, certTtl, san, sans, carga, cargas, untested } = options
  const names = chooseList('--san', san, sans)
  const ids = chooseList('--load', carga, cargas)
  return {
    ...(tokenTtlMax !== undefined && {
      token_ttl_max: chooseSeconds('--token-ttl-max', tokenTtlMax),
    }),
    ...(certTtl !== undefined && { cert_ttl: chooseSeconds('--cert-ttl', certTtl) }),
    ...(names !== undefined && { sans_permitidos: names }),
    ...(ids !== undefined && { cargas_automaticas: ids }),
    ...(untested && { untested }),
  }
}

function chooseSeconds(option: string, value: string | false): number | null {
  return value === false ? null : parseSecondsOption(option, value)
}

/** Undefined leaves it as it is. */
function chooseList(
  option: string,
  values: readonly string[],
  isWanted: boolean,
): string[] | undefined {
  if (isWanted) return values.length === 0 ? undefined : [...values]
  if (values.length === 0) return []
  throw new UserError('usage', `${option} and --no-${option.slice(2)}s do not go together`, {
    hint: `${option} alone replaces all earlier ones`,
  })
}
