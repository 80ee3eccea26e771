// The methods of join rules, one a file. A rule has one of them; without any it has a token of its own.

import type { Command } from 'commander'
import { UserError } from '../../../../platform/errors.ts'
import type { AdminJoinRule } from '../../../../protocol/admin/join-rules.ts'
import type { CommandContext } from '../../command-context.ts'
import { certificateMethod, type CertificateOptions } from './certificate.ts'
import type { JoinMethod, MethodRequest } from './join-method.ts'
import { sshMethod, type SshOptions } from './ssh.ts'
import { tpmMethod, type TpmOptions } from './tpm.ts'
import { workloadMethod, type WorkloadOptions } from './workload.ts'

export type MethodOptions = WorkloadOptions & CertificateOptions & SshOptions & TpmOptions

const METHODS: readonly JoinMethod<MethodOptions>[] = [
  workloadMethod,
  certificateMethod,
  sshMethod,
  tpmMethod,
]

export const METHODS_HELP: string = METHODS.map(({ help }) => help).join('\n\n')
export const METHODS_EXAMPLES: string = METHODS.flatMap(({ examples }) => examples)
  .map((example) => `  ${example}`)
  .join('\n')

export function addMethodOptions(command: Command): Command {
  return METHODS.reduce((extended, { addOptions }) => addOptions(extended), command)
}

export async function readMethod(
  context: CommandContext,
  options: MethodOptions,
): Promise<MethodRequest> {
  const asked: MethodRequest[] = []
  for (const { read } of METHODS) {
    const request = await read(context, options)
    if (request !== undefined) asked.push(request)
  }
  const [first, second] = asked
  if (second === undefined) return first ?? { method: 'token' }
  throw new UserError('usage', `a rule has one method, and these options are of several`, {
    hint: 'make a rule for each',
  })
}

export function describeMethod(rule: AdminJoinRule): Readonly<Record<string, string>> {
  return Object.assign({}, ...METHODS.map(({ describe }) => describe(rule))) as Readonly<
    Record<string, string>
  >
}
