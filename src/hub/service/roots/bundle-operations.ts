import { UserError } from '../../../platform/errors.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Store } from '../../store/store.ts'
import { describeBundle } from './bundle-status.ts'
import {
  createUpdateRootSet,
  type UpdateRootSet,
  type UpdateRootSetDependencies,
} from './update-root-set.ts'

/** The roots of a running hub. */
export interface AdminRoots {
  readonly readFileRoots: () => Promise<readonly Certificate[]>
  /** The one that the hub's own certificate leads to. */
  readonly serverRoot: () => Certificate | undefined
  readonly update: UpdateRootSet
}

interface BundleDependencies {
  readonly store: Store
  readonly clock: Clock
  /** Undefined without a running hub. */
  readonly roots?: AdminRoots
}

export function createAdminRoots(dependencies: UpdateRootSetDependencies): AdminRoots {
  const { readFileRoots, hub, current } = dependencies
  return {
    readFileRoots,
    serverRoot: () => hub.serverRoot(current.roots),
    update: createUpdateRootSet(dependencies),
  }
}

export async function showBundle({
  store,
  clock,
  roots,
}: BundleDependencies): Promise<AdminReplies['showBundle']> {
  const surroundings = roots && {
    fileRoots: await roots.readFileRoots().catch(() => undefined),
    serverRoot: roots.serverRoot(),
  }
  return describeBundle(store.reader, clock.now(), surroundings)
}

export async function updateBundle(
  dependencies: BundleDependencies,
  request: AdminRequest<'updateBundle'>,
  actor: Actor,
): Promise<AdminReplies['updateBundle']> {
  const { roots } = dependencies
  if (roots === undefined) {
    throw new UserError('no_hub', 'the roots of a vault change while its hub runs', {
      hint: 'start svc-server, which reads SVC_CA_ROOT_CA_PATH',
    })
  }
  const { isChanged, endangered } = await roots.update(request, actor)
  return {
    ...(await showBundle(dependencies)),
    is_changed: isChanged,
    endangered: endangered.map(({ hostname, reasons }) => ({ hostname, reasons: [...reasons] })),
  }
}
