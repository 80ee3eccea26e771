// For `describe`: where there is no Go to build Pebble with, its tests skip.

import { ensurePebble } from '../../tools/install-pebble.ts'

export const WITH_PEBBLE: { readonly skip: string | false } = {
  skip: (await ensurePebble()) === undefined && 'there is no Go to build Pebble with',
}
