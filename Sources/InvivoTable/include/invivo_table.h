/* The function table is reached by invivo_table_get, which include/invivo/module.h declares. */
