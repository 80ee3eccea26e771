import { join } from 'node:path'
import { ROOT } from '../source-files.ts'

/** What builds make or fetch once; it goes with node_modules. */
export const BUILD_CACHE: string = join(ROOT, 'node_modules/.cache/cartorio')
