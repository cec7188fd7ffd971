"""The file of one day: its entries, what is said about them, and how two versions become one."""
