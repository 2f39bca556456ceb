"""Rules about exposed communication."""
