// What `join-rule create` and `join-rule show` know of a method by which hosts join.

import type { Command } from 'commander'
import type { AdminRequest } from '../../../../protocol/admin/operations.ts'
import type { AdminJoinRule } from '../../../../protocol/admin/join-rules.ts'
import type { ShownMethod } from '../../../../protocol/admin/join-methods.ts'
import type { CommandContext } from '../../command-context.ts'

export type MethodRequest = Pick<AdminRequest<'createJoinRule'>, 'method' | ShownMethod>

export interface JoinMethod<Options> {
  readonly addOptions: (command: Command) => Command
  /** Undefined without any of its options; throws where they do not go together. */
  readonly read: (context: CommandContext, options: Options) => Promise<MethodRequest | undefined>
  /** What people read of a rule of this method; nothing of another one, also of a hub that does not know this one. */
  readonly describe: (rule: AdminJoinRule) => Readonly<Record<string, string>>
  readonly help: string
  readonly examples: readonly string[]
}
