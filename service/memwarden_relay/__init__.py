"""The relay: brings Alertmanager's notifications to Matrix rooms, once and in order, and takes answers back."""
