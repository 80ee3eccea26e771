// For `describe`: where OpenBao cannot be installed, its tests skip.

import { ensureOpenBao } from '../../tools/install-openbao.ts'

export const WITH_OPENBAO: { readonly skip: string | false } = {
  skip: (await ensureOpenBao()) === undefined && 'OpenBao cannot be installed from PyPI here',
}
