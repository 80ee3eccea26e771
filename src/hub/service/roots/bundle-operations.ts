import {
  type AdminAsker,
  AdminRefusal,
  type AdminTurn,
  type Course,
  type Read,
} from '../admin-act.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Certificate } from '../../../pki/certificates.ts'
import type { AdminBundle, AdminUpdatedBundle } from '../../../protocol/admin/views.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import type { RolloutHubs } from '../rollout/rollout-rules.ts'
import { describeBundle } from './bundle-status.ts'
import {
  createUpdateRootSet,
  type RootSetRequest,
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

interface BundleContext {
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

export const showBundle: Read<'showBundle', BundleContext> = async (
  reader,
  { pendentes_max: most },
  context,
) => {
  const bundle = await describe(reader, context)
  if (most === undefined) return bundle
  const { pendentes } = bundle
  return { ...bundle, pendentes: pendentes.slice(0, most), pendentes_total: pendentes.length }
}

type ChangeContext = BundleContext & { readonly store: Store; readonly hubs?: RolloutHubs }

export const updateBundle: Course<'updateBundle', ChangeContext> = {
  run: (turn, request, context) => change(turn, request, context),
}

export const signBundle: Course<'signBundle', ChangeContext> = {
  run: (turn, signed, context) => change(turn, { signed }, context),
}

async function change(
  turn: AdminTurn,
  request: RootSetRequest,
  context: ChangeContext & Pick<AdminAsker, 'actor'>,
): Promise<AdminUpdatedBundle> {
  const { roots, store, actor, hubs } = context
  if (roots === undefined) {
    throw new AdminRefusal('no_hub', 'the roots change only while the hub runs')
  }
  const {
    isChanged,
    endangered,
    rollout = null,
  } = await roots.update(turn, request, { actor, hubs })
  return {
    ...(await describe(store.reader, context)),
    is_changed: isChanged,
    rollout,
    endangered: endangered.map(({ hostname, reasons }) => ({ hostname, reasons: [...reasons] })),
  }
}

async function describe(
  reader: StoreReader,
  { clock, roots }: BundleContext,
): Promise<AdminBundle> {
  const surroundings = roots && {
    fileRoots: await roots.readFileRoots().catch(() => undefined),
    serverRoot: roots.serverRoot(),
  }
  return describeBundle(reader, clock.now(), surroundings)
}
